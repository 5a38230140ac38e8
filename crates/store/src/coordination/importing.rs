//! State files that become records.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
};

use super::{Coordination, CoordinationError, CoordinationFiles, RecordsError, SYSTEM};
use crate::changes::{RECORDS_A_COMMIT, RecordDecision};
use crate::commit::read_whole;
use crate::disk::file_reading::read_file;
use crate::projection::{ProjectionError, record_files, record_format::Overwrite};
use crate::signals::read_signals;
use stepmark_model::{
    artifact::{Artifact, ProjectPath},
    coordination::{Files, Format, Record, RecordKind, State, heartbeats, read, seen},
    journal::{EventDraft, Kind},
    records::{RecordSet as _, Signals, take_newer, values_digest},
};

/// The side that counts where a record and a state file disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportSide {
    File,
    Artifact,
}

/// A record that a state file and the artifacts do not hold alike.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImportRow {
    pub kind: RecordKind,
    pub id: String,
    /// The record as the file has it; `None` where it has none.
    pub file: Option<Record>,
    /// The record as the artifact has it; `None` where there is none.
    pub artifact: Option<Record>,
    /// The same as a reader of the format sees it.
    shown: Option<Record>,
    /// True where nothing is lost if the artifact takes what the file says.
    is_fresh: bool,
}

impl ImportRow {
    pub const fn is_disputed(&self) -> bool {
        self.file.is_some() && self.artifact.is_some() && !self.is_fresh
    }

    /// Takes from a record that was only begun, and has no other beside it, what the file does not say.
    fn keep_beginning(&mut self) {
        let (Some(file), Some(shown)) = (&mut self.file, &self.shown) else { return };
        let goal = |record: &Record| record.text("goal").unwrap_or_default().to_owned();
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

impl ImportRow {
    /// The keys of which both say something else; none where one of them has no record.
    pub fn differing(&self) -> Vec<&str> {
        let (Some(file), Some(shown)) = (&self.file, &self.shown) else { return Vec::new() };
        let keys: BTreeSet<&String> = file.values.keys().chain(shown.values.keys()).collect();
        let differs = |key: &&String| file.values.get(*key) != shown.values.get(*key);
        let body = (file.body != shown.body).then_some("body");
        keys.into_iter().filter(differs).map(String::as_str).chain(body).collect()
    }
}

/// The records that a state file would bring in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ImportSurvey {
    pub format: Format,
    pub rows: Vec<ImportRow>,
    pub same: usize,
    /// The signs of life of agents that the files tell.
    signals: Signals,
    /// True where the files are those that follow the records.
    is_own: bool,
}

impl Coordination<'_> {
    /// Compares the state file at `path` (a file, or the folder of those of option A; the files of the
    /// configured format where nothing is given) with the records.
    pub fn survey(&self, path: Option<&ProjectPath>) -> Result<ImportSurvey, CoordinationError> {
        let is_folder = path.is_none_or(|path| path.extension() != Some("json"));
        let read = |format: Format, number: usize, name: &str| {
            let place = match path {
                None => self.format_of(format).path(name),
                Some(path) if is_folder => path.join(name).ok(),
                Some(path) if number == 0 => Some(path.clone()),
                Some(path) => path.parent().map_or_else(|| ProjectPath::new(name), |own| own.join(name)).ok(),
            };
            let bytes = place.map(|place| read_whole(self.workspace.root(), &place)).transpose();
            Ok(bytes.map_err(ProjectionError::from)?.flatten())
        };
        let (format, files) = self.state_files(path.is_none(), is_folder, read)?.ok_or_else(|| {
            let place = path.map_or_else(|| self.settings.folder.to_string(), ToString::to_string);
            CoordinationError::NothingToImport { place }
        })?;
        let own =
            self.format_of(self.settings.format).path(format.files().first().copied().unwrap_or_default());
        let is_own = format == self.settings.format
            && path.is_none_or(|path| {
                own.is_some_and(|own| own == *path || own.parent().as_ref() == Some(path))
            });
        self.compare(format, &files, is_own)
    }

    /// The same of a state file at `place`, or in the folder `place`, which may stand outside of the project:
    /// it is only read.
    pub fn survey_outside(&self, place: &Path) -> Result<ImportSurvey, CoordinationError> {
        let is_folder = place.extension().is_none_or(|extension| extension != "json");
        let read = |_: Format, number: usize, name: &str| {
            let place = match (is_folder, number) {
                (true, _) => place.join(name),
                (false, 0) => place.to_owned(),
                (false, _) => place.with_file_name(name),
            };
            match read_file(&place) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(source) => Err(CoordinationError::Outside { place: place.display().to_string(), source }),
            }
        };
        let found = self.state_files(false, is_folder, read)?;
        let nothing = || CoordinationError::NothingToImport { place: place.display().to_string() };
        let (format, files) = found.ok_or_else(nothing)?;
        self.compare(format, &files, false)
    }

    fn compare(
        &self,
        format: Format,
        files: &Files,
        is_own: bool,
    ) -> Result<ImportSurvey, CoordinationError> {
        let theirs = read(format, files)?;
        let ours = match self.state() {
            Ok(state) => Some(state),
            Err(RecordsError::NotBegun { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        // What the format cannot hold is not missing in its files.
        let shown = ours.as_ref().map(|ours| seen(format, ours));
        let mut own: BTreeMap<(RecordKind, &str), (&Record, &Record)> = BTreeMap::new();
        for (ours, shown) in ours.iter().zip(&shown) {
            let ours: BTreeMap<(RecordKind, &str), &Record> =
                ours.records().map(|record| ((record.kind, record.id.as_str()), record)).collect();
            let of = |shown: &'_ Record| ours.get(&(shown.kind, shown.id.as_str())).copied();
            own.extend(
                shown
                    .records()
                    .filter_map(|shown| Some(((shown.kind, shown.id.as_str()), (of(shown)?, shown)))),
            );
        }
        // Where the file says what was written last, the artifact alone was changed since.
        let last = if is_own { self.last_and_found()?.0 } else { None };
        let is_behind = |kind, id: &str, file: Option<&Record>| {
            let last = last.as_ref().map(|last| last.record(kind, id).map(values_digest));
            last == Some(file.map(values_digest))
        };
        let (mut rows, mut same) = (Vec::new(), 0);
        for file in theirs.records() {
            match own.remove(&(file.kind, file.id.as_str())) {
                Some((_, shown)) if values_digest(shown) == values_digest(file) => same += 1,
                Some(_) if is_behind(file.kind, &file.id, Some(file)) => {}
                found => rows.push(ImportRow {
                    kind: file.kind,
                    id: file.id.clone(),
                    file: Some(file.clone()),
                    artifact: found.map(|(artifact, _)| artifact.clone()),
                    shown: found.map(|(_, shown)| shown.clone()),
                    is_fresh: false,
                }),
            }
        }
        own.retain(|(kind, id), _| !is_behind(*kind, id, None));
        rows.extend(own.into_values().map(|(artifact, shown)| ImportRow {
            kind: artifact.kind,
            id: artifact.id.clone(),
            file: None,
            artifact: Some(artifact.clone()),
            shown: Some(shown.clone()),
            is_fresh: false,
        }));
        if ours.as_ref().is_some_and(|ours| ours.records().count() == 1) {
            let root = rows.iter_mut().find(|row| row.kind == RecordKind::Coordination);
            root.into_iter().for_each(ImportRow::keep_beginning);
        }
        let signals = files.get(format.heartbeat_file()).map(|bytes| heartbeats(bytes)).unwrap_or_default();
        Ok(ImportSurvey { format, rows, same, signals, is_own })
    }

    /// Brings in what `survey` found: new records always, changed ones where `side` is the file's, and takes
    /// away those that the file has no more only with `removes`. Returns the number of records that changed,
    /// and the state of the files that follow.
    pub fn import(
        &self,
        survey: &ImportSurvey,
        side: impl Fn(&ImportRow) -> ImportSide,
        removes: bool,
    ) -> Result<(usize, CoordinationFiles), CoordinationError> {
        let wanted: Vec<&ImportRow> = survey
            .rows
            .iter()
            .filter(|row| match (&row.file, &row.artifact) {
                (Some(_), Some(_)) => side(row) == ImportSide::File,
                (None, _) => removes,
                (Some(_), None) => true,
            })
            .collect();
        let paths =
            wanted.iter().map(|row| self.path_of(row.kind, &row.id)).collect::<Result<Vec<_>, _>>()?;
        self.make_folder(&paths)?;
        for (paths, rows) in paths.chunks(RECORDS_A_COMMIT).zip(wanted.chunks(RECORDS_A_COMMIT)) {
            let draft = |_: &ProjectPath| {
                EventDraft::new(Kind::IMPORT).with_command("import coordination".to_owned())
            };
            self.workspace.change_records(paths, draft, |found| {
                let decided =
                    rows.iter().zip(found).map(|(row, found)| self.decide_import(row, found.as_ref()));
                decided.collect::<Result<Vec<_>, CoordinationError>>()
            })?;
        }
        for signal in take_newer(&mut read_signals(self.workspace.root(), SYSTEM), survey.signals.clone()) {
            self.note_signal(&signal)?;
        }
        // The files say what was taken from them; of the rest, the records' word stands. Files that were not
        // compared keep what others changed in them, and so do records that they changed since. A record that
        // somebody took out of them stays out until somebody decides on that.
        let (last, found) = if survey.is_own { self.last_and_found()? } else { (None, None) };
        let is_undecided = |row: &ImportRow| row.file.is_none() && !removes && last.is_some();
        let is_as_compared = |row: &&ImportRow| {
            let found = found.as_ref().map(|found| found.record(row.kind, &row.id).map(values_digest));
            !is_undecided(row) && found.is_none_or(|found| found == row.file.as_ref().map(values_digest))
        };
        let ids = survey.rows.iter().filter(is_as_compared).map(|row| row.id.clone()).collect();
        let files = self.project(&if survey.is_own { Overwrite::Records(ids) } else { Overwrite::None })?;
        Ok((wanted.len(), files))
    }

    /// The records as they were written last to the files that follow, and as these hold them now. Those of
    /// option C are written when the user says so: none of them are the last.
    fn last_and_found(&self) -> Result<record_files::LastAndFound<State>, CoordinationError> {
        let options = self.workspace.commit_options();
        let (last, found) = record_files::last_and_found(self.workspace.root(), options, &self.format())?;
        let follows = self.settings.format != Format::OrchestratorState;
        Ok((last.filter(|_| follows), found))
    }

    fn decide_import(
        &self,
        row: &ImportRow,
        found: Option<&Artifact>,
    ) -> Result<RecordDecision, CoordinationError> {
        let record = found.map(super::records::read).transpose()?;
        let taken = record.as_ref().zip(row.file.as_ref());
        let taken = taken.map(|(record, file)| record.taking(row.shown.as_ref().unwrap_or(record), file));
        // Brought in already, as by an import that was killed and has been finished since.
        if record == taken && record.is_some() == row.file.is_some() {
            return Ok(RecordDecision::Keep);
        }
        if record != row.artifact {
            return Err(CoordinationError::Busy { path: self.path_of(row.kind, &row.id)? });
        }
        match (&row.file, record.zip(taken)) {
            (None, _) => Ok(RecordDecision::Remove),
            (Some(file), None) => Ok(RecordDecision::Write(self.bytes_of(file)?)),
            (Some(_), Some((record, wanted))) => {
                let bytes = found.map(|found| record.rewrite(found, &wanted)).transpose();
                let path = self.path_of(row.kind, &row.id)?;
                let bytes = bytes.map_err(|source| CoordinationError::Edit { path, source })?;
                Ok(bytes.map_or(RecordDecision::Keep, RecordDecision::Write))
            }
        }
    }

    /// The state files that `read` finds, by the names that their format gives them, and the format: a folder
    /// is that of files with these names, a file may have any name, and its siblings stand beside it. `read`
    /// is given the place of a name among those of its format. Where records are there, `is_own` files are
    /// those of the configured format.
    fn state_files(
        &self,
        is_own: bool,
        is_folder: bool,
        read: impl Fn(Format, usize, &str) -> Result<Option<Vec<u8>>, CoordinationError>,
    ) -> Result<Option<(Format, Files)>, CoordinationError> {
        let formats =
            [self.settings.format, Format::TasksFile, Format::ServerState, Format::OrchestratorState];
        let known = if is_own && self.state().is_ok() { &formats[..1] } else { &formats[..] };
        for format in known.iter().copied() {
            let mut files = Files::new();
            for (number, name) in format.files().iter().enumerate() {
                files.extend(read(format, number, name)?.map(|bytes| ((*name).to_owned(), bytes)));
            }
            let Some(first) = format.files().first().and_then(|name| files.get(*name)) else { continue };
            // A file that is no JSON is of no format: the reader says what is wrong with it.
            if is_folder || Format::of(first).is_none_or(|own| own == format) {
                return Ok(Some((format, files)));
            }
        }
        Ok(None)
    }
}
