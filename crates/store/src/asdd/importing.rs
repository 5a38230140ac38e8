//! A manifest that becomes records.

use std::collections::BTreeSet;

use super::{Asdd, AsddError, AsddRecordsError, changing::draft, records::read as read_artifact};
use crate::changes::{RECORDS_A_COMMIT, RecordDecision};
use crate::commit::make_folders_to;
use crate::disk::file_reading::read_file;
use crate::projection::Overwrite;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    asdd::{Record, SliceKind, State, read, seen},
    records::{RecordSet as _, Signals, take_newer, values_digest},
};

/// A record that a manifest and the artifacts do not hold alike.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SliceRow {
    pub kind: SliceKind,
    pub id: String,
    /// The record as the manifest has it; `None` where it has none.
    pub file: Option<Record>,
    /// The record as the artifact has it; `None` where there is none.
    pub artifact: Option<Record>,
    /// The same as a reader of the manifest sees it.
    shown: Option<Record>,
}

/// The records that a manifest would bring in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SliceImport {
    pub rows: Vec<SliceRow>,
    pub same: usize,
    signals: Signals,
    is_own: bool,
}

impl Asdd<'_> {
    /// Compares the manifest at `place` (outside of the project, too; the project's own where nothing is
    /// given) with the records.
    pub fn survey(&self, place: Option<&std::path::Path>) -> Result<SliceImport, AsddError> {
        let own = self.workspace.root().path().join(self.manifest_path()?.as_str());
        let given = place.map_or_else(
            || own.clone(),
            |place| match place.extension().is_none_or(|extension| extension != "json") {
                true => place.join(stepmark_model::asdd::MANIFEST),
                false => place.to_owned(),
            },
        );
        let shown_place = || given.display().to_string();
        let bytes = read_file(&given).map_err(|_| AsddError::NothingToImport { place: shown_place() })?;
        let (theirs, signals) =
            read(&bytes).map_err(|source| AsddError::Manifest { place: shown_place(), source })?;
        let ours = match self.state() {
            Ok(state) => Some(state),
            Err(AsddRecordsError::NotBegun) => None,
            Err(error) => return Err(error.into()),
        };
        let (rows, same) = compare(&theirs, ours.as_ref());
        Ok(SliceImport { rows, same, signals, is_own: given == own })
    }

    /// Brings in what `found` holds: new records always, changed ones where `takes_file`, and takes away
    /// those that the manifest has no more only with `removes`. Returns the number of records that changed.
    pub fn import(&self, found: &SliceImport, takes_file: bool, removes: bool) -> Result<usize, AsddError> {
        self.want_agents_to_be_custodian("an import by an agent")?;
        let is_wanted = |row: &&SliceRow| match (&row.file, &row.artifact) {
            (Some(_), Some(_)) => takes_file,
            (None, _) => removes && row.kind == SliceKind::Slice,
            (Some(_), None) => true,
        };
        let wanted: Vec<&SliceRow> = found.rows.iter().filter(is_wanted).collect();
        let paths =
            wanted.iter().map(|row| self.path_of(row.kind, &row.id)).collect::<Result<Vec<_>, _>>()?;
        for (paths, rows) in paths.chunks(RECORDS_A_COMMIT).zip(wanted.chunks(RECORDS_A_COMMIT)) {
            for path in paths {
                make_folders_to(self.workspace.root(), path, self.workspace.commit_options().fsync)?;
            }
            self.attempt(paths, draft("import", "import asdd"), |present| {
                let decided = rows.iter().zip(paths).zip(present);
                let decided = decided.map(|((row, path), present)| decide(row, path, present.as_ref()));
                Ok(((), decided.collect::<Result<Vec<_>, _>>()?))
            })?;
        }
        for signal in take_newer(&mut self.signals(), found.signals.clone()) {
            self.write_signal(&signal)?;
        }
        // What another program took away, and nobody here did, stays a difference that is told.
        let settled = found.rows.iter().filter(|row| row.file.is_some() || removes);
        let ids: BTreeSet<String> = settled.map(|row| row.id.clone()).collect();
        self.project(&if found.is_own { Overwrite::Records(ids) } else { Overwrite::None })?;
        Ok(wanted.len())
    }
}

fn decide(
    row: &SliceRow,
    path: &ProjectPath,
    present: Option<&Artifact>,
) -> Result<RecordDecision, AsddError> {
    let record = present.map(read_artifact).transpose()?;
    if record != row.artifact {
        return Err(AsddError::Busy { path: path.clone() });
    }
    let edit = |source| AsddError::Edit { path: path.clone(), source };
    Ok(match (&row.file, record, present) {
        (None, ..) => RecordDecision::Remove,
        (Some(file), Some(record), Some(artifact)) => {
            let wanted = record.taking(row.shown.as_ref().unwrap_or(&record), file);
            RecordDecision::Write(record.rewrite(artifact, &wanted).map_err(edit)?)
        }
        (Some(file), ..) => RecordDecision::Write(file.to_file().map_err(edit)?),
    })
}

fn compare(theirs: &State, ours: Option<&State>) -> (Vec<SliceRow>, usize) {
    let shown = ours.map(seen);
    let (mut rows, mut same) = (Vec::new(), 0);
    for file in theirs.records() {
        let artifact = ours.and_then(|ours| ours.record(file.kind, &file.id)).cloned();
        let shown = shown.as_ref().and_then(|shown| shown.record(file.kind, &file.id)).cloned();
        if shown.as_ref().is_some_and(|shown| values_digest(shown) == values_digest(file)) {
            same += 1;
        } else {
            let (kind, id) = (file.kind, file.id.clone());
            rows.push(SliceRow { kind, id, file: Some(file.clone()), artifact, shown });
        }
    }
    for artifact in ours.into_iter().flat_map(State::records) {
        if theirs.record(artifact.kind, &artifact.id).is_none() {
            let (kind, id) = (artifact.kind, artifact.id.clone());
            rows.push(SliceRow { kind, id, file: None, artifact: Some(artifact.clone()), shown: None });
        }
    }
    (rows, same)
}
