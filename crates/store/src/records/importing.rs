//! Importing records from another program's file.

use crate::records::{faulty, not_written};
use crate::{Error, records::busy};
use std::collections::{BTreeMap, BTreeSet};

use crate::changes::{RECORDS_A_COMMIT, RecordDecision};
use crate::projection::{
    Overwrite,
    pack_files::{Followed, RecordFormat},
    record_files,
};
use crate::records::{ChangedRecords, KindOf};
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    journal::{EventDraft, Kind},
    records::{Drift, Record, RecordKinds, RecordSet, Signals, take_newer, values_digest},
};

/// A record that differs between file and artifacts.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportRow<K> {
    pub kind: K,
    pub id: String,
    pub file: Option<Record<K>>,
    pub artifact: Option<Record<K>>,
    shown: Option<Record<K>>,
    /// True if taking the file's version loses nothing.
    is_fresh: bool,
}

impl<K: RecordKinds> ImportRow<K> {
    pub const fn is_disputed(&self) -> bool {
        self.file.is_some() && self.artifact.is_some() && !self.is_fresh
    }

    /// Empty if one of them has no record.
    pub fn differing(&self) -> Vec<&str> {
        let (Some(file), Some(shown)) = (&self.file, &self.shown) else { return Vec::new() };
        let keys: BTreeSet<&String> = file.values.keys().chain(shown.values.keys()).collect();
        let differs = |key: &&String| file.values.get(*key) != shown.values.get(*key);
        let body = (file.body != shown.body).then_some("body");
        keys.into_iter().filter(differs).map(String::as_str).chain(body).collect()
    }

    /// For a record that was only begun, alone: removes what the file does not say.
    fn keep_beginning(&mut self) {
        let (Some(file), Some(shown)) = (&mut self.file, &self.shown) else { return };
        if !self.artifact.as_ref().is_some_and(|own| own.values.contains_key("goal")) {
            return;
        }
        let goal = |record: &Record<K>| record.text("goal").unwrap_or_default().to_owned();
        if goal(file).is_empty() && !goal(shown).is_empty() {
            file.set("goal", goal(shown));
        }
        if file.body.is_empty() {
            file.body.clone_from(&shown.body);
        }
        let is_same = |one: &str, other: &str| one == other || other.is_empty();
        self.is_fresh = is_same(&goal(file), &goal(shown)) && is_same(&file.body, &shown.body);
    }
}

#[derive(Clone, Debug)]
pub struct ImportSurvey<K> {
    pub rows: Vec<ImportRow<K>>,
    pub same: usize,
    signals: Signals,
    /// True for the files written from the records.
    is_own: bool,
}

type LastAndFound<S> = record_files::LastAndFound<S>;

impl<K: RecordKinds> ImportSurvey<K> {
    /// Compares `theirs`, in `format`, with `ours`. If the files are written from the records, `last` is
    /// their last version: where they still agree with it, only the artifact was changed.
    pub(crate) fn of<F>(
        format: &F,
        (theirs, signals): (F::State, Signals),
        ours: Option<&F::State>,
        (is_own, last): (bool, Option<F::State>),
    ) -> Self
    where
        F: RecordFormat<State: RecordSet<Kind = K>>,
    {
        // Records that the format cannot represent are not missing.
        let shown = ours.map(|ours| format.seen(ours));
        let shown = shown.iter().flat_map(RecordSet::records);
        let mut own: BTreeMap<(K, &str), &Record<K>> =
            shown.map(|shown| ((shown.kind, shown.id.as_str()), shown)).collect();
        let artifact = |kind, id: &str| ours.and_then(|ours| ours.record(kind, id)).cloned();
        let is_behind = |kind, id: &str, file: Option<&Record<K>>| {
            let last = last.as_ref().map(|last| last.record(kind, id).map(values_digest));
            last == Some(file.map(values_digest))
        };
        let (mut rows, mut same) = (Vec::new(), 0);
        for file in theirs.records() {
            match own.remove(&(file.kind, file.id.as_str())) {
                Some(shown) if values_digest(shown) == values_digest(file) => same += 1,
                Some(_) if is_behind(file.kind, &file.id, Some(file)) => {}
                found => rows.push(ImportRow {
                    kind: file.kind,
                    id: file.id.clone(),
                    file: Some(file.clone()),
                    artifact: found.and_then(|_| artifact(file.kind, &file.id)),
                    shown: found.cloned(),
                    is_fresh: false,
                }),
            }
        }
        own.retain(|(kind, id), _| !is_behind(*kind, id, None));
        rows.extend(own.into_values().map(|shown| ImportRow {
            kind: shown.kind,
            id: shown.id.clone(),
            file: None,
            artifact: artifact(shown.kind, &shown.id),
            shown: Some(shown.clone()),
            is_fresh: false,
        }));
        if ours.is_some_and(|ours| ours.records().count() == 1) {
            let root = rows.iter_mut().find(|row| K::ALL.first() == Some(&row.kind));
            root.into_iter().for_each(ImportRow::keep_beginning);
        }
        Self { rows, same, signals, is_own }
    }

    /// Imports new records, changed ones if `takes_file`; missing ones are removed if `removes`. Returns the
    /// number of changed records, and the files' state.
    pub(crate) fn bring_in<S>(
        &self,
        system: &S,
        (takes_file, removes): (bool, bool),
        last_and_found: impl FnOnce() -> Result<LastAndFound<S::State>, Error>,
    ) -> Result<(usize, Followed<Drift<K>>), Error>
    where
        S: ChangedRecords<State: RecordSet<Kind = K>>,
    {
        let is_wanted = |row: &&ImportRow<K>| match (&row.file, &row.artifact) {
            (Some(_), Some(_)) => takes_file,
            // A system needs its first record.
            (None, _) => removes && K::ALL.first() != Some(&row.kind),
            (Some(_), None) => true,
        };
        let wanted: Vec<&ImportRow<K>> = self.rows.iter().filter(is_wanted).collect();
        let faults = wanted.iter().filter_map(|row| row.file.as_ref()).flat_map(|record| {
            let told = move |fault| format!("{} `{}`: {fault}", record.kind, record.id);
            record.faults().into_iter().map(told)
        });
        let faults: Vec<String> = faults.collect();
        if !faults.is_empty() {
            return Err(faulty(&faults));
        }
        let paths =
            wanted.iter().map(|row| system.place_of(row.kind, &row.id)).collect::<Result<Vec<_>, _>>()?;
        system.make_folders(&paths)?;
        let command = S::SYSTEM.import.trim_start_matches("stepmark ");
        for (paths, rows) in paths.chunks(RECORDS_A_COMMIT).zip(wanted.chunks(RECORDS_A_COMMIT)) {
            let draft = EventDraft::new(Kind::IMPORT).with_command(command.to_owned());
            system.attempt(paths, draft, |found| {
                let decided = rows.iter().zip(paths).zip(found);
                let decided = decided.map(|((row, path), found)| decide::<S>(row, path, found.as_ref()));
                Ok(((), decided.collect::<Result<Vec<_>, _>>()?))
            })?;
        }
        for signal in take_newer(&mut system.known_signals(), self.signals.clone()) {
            system.note_signal(&signal)?;
        }
        // The files contain what was imported; otherwise the records win. Files that were not compared, and
        // records that changed since, keep foreign changes. A record removed from the files stays out until
        // somebody decides.
        let (last, found) = if self.is_own { last_and_found()? } else { (None, None) };
        let is_undecided = |row: &ImportRow<K>| row.file.is_none() && !removes && last.is_some();
        let is_as_compared = |row: &&ImportRow<K>| {
            let found = found.as_ref().map(|found| found.record(row.kind, &row.id).map(values_digest));
            !is_undecided(row) && found.is_none_or(|found| found == row.file.as_ref().map(values_digest))
        };
        let ids = self.rows.iter().filter(is_as_compared).map(|row| row.id.clone()).collect();
        let files =
            system.write_files(&if self.is_own { Overwrite::Records(ids) } else { Overwrite::None })?;
        Ok((wanted.len(), files))
    }
}

fn decide<S: ChangedRecords>(
    row: &ImportRow<KindOf<S>>,
    path: &ProjectPath,
    found: Option<&Artifact>,
) -> Result<RecordDecision, Error> {
    let record = found.map(S::read_artifact).transpose()?;
    let taken = record.as_ref().zip(row.file.as_ref());
    let taken = taken.map(|(record, file)| record.taking(row.shown.as_ref().unwrap_or(record), file));
    // Already imported, as by a killed import that was finished since.
    if record == taken && record.is_some() == row.file.is_some() {
        return Ok(RecordDecision::Keep);
    }
    if record != row.artifact {
        return Err(busy(path));
    }
    let edit = |source| not_written(path, source);
    Ok(match (&row.file, record.zip(taken).zip(found)) {
        (None, _) => RecordDecision::Remove,
        (Some(file), None) => RecordDecision::Write(file.to_file().map_err(edit)?),
        (Some(_), Some(((record, wanted), found))) => {
            RecordDecision::Write(record.rewrite(found, &wanted).map_err(edit)?)
        }
    })
}
