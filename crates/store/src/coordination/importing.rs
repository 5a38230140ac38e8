//! State files that become records.

use std::{io, path::Path};

use super::{Coordination, CoordinationFiles};
use crate::projection::{ProjectionError, record_files};
use crate::records::{ImportRow, ImportSurvey, RecordsError, SystemError};
use crate::{commit::read_whole, disk::file_reading::read_file};
use stepmark_model::{
    artifact::ProjectPath,
    coordination::{Files, Format, RecordKind, State, heartbeats, read},
};

#[derive(Clone, Debug)]
pub struct StateFile {
    pub format: Format,
    pub survey: ImportSurvey<RecordKind>,
}

impl Coordination<'_> {
    /// Compares the state file at `path` (a file, or the folder of those of option A; the files of the
    /// configured format where nothing is given) with the records.
    pub fn survey(&self, path: Option<&ProjectPath>) -> Result<StateFile, SystemError> {
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
            nothing(path.map_or_else(|| self.settings.folder.to_string(), ToString::to_string))
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
    pub fn survey_outside(&self, place: &Path) -> Result<StateFile, SystemError> {
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
                Err(source) => Err(SystemError::Outside { place: place.display().to_string(), source }),
            }
        };
        let found = self.state_files(false, is_folder, read)?;
        let (format, files) = found.ok_or_else(|| nothing(place.display().to_string()))?;
        self.compare(format, &files, false)
    }

    fn compare(&self, format: Format, files: &Files, is_own: bool) -> Result<StateFile, SystemError> {
        let ours = match self.state() {
            Ok(state) => Some(state),
            Err(RecordsError::NotBegun { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        // Where the file says what was written last, the artifact alone was changed since.
        let last = if is_own { self.last_and_found()?.0 } else { None };
        let signals = files.get(format.heartbeat_file()).map(|bytes| heartbeats(bytes)).unwrap_or_default();
        let theirs = (read(format, files)?, signals);
        let survey = ImportSurvey::of(&self.format_of(format), theirs, ours.as_ref(), (is_own, last));
        Ok(StateFile { format, survey })
    }

    /// Brings in what was found: new records always, changed ones where `takes_file`, and takes away those
    /// that the file has no more only with `removes`. Returns the number of records that changed, and the
    /// state of the files that follow.
    pub fn import(
        &self,
        found: &StateFile,
        takes_file: bool,
        removes: bool,
    ) -> Result<(usize, CoordinationFiles), SystemError> {
        if takes_file && found.survey.rows.iter().any(ImportRow::is_disputed) {
            self.want_a_person("taking what a file says of records")?;
        }
        found.survey.bring_in(self, (takes_file, removes), || self.last_and_found())
    }

    /// The records as they were written last to the files that follow, and as these hold them now. Those of
    /// option C are written when the user says so: none of them are the last.
    fn last_and_found(&self) -> Result<record_files::LastAndFound<State>, SystemError> {
        let options = self.workspace.commit_options();
        let (last, found) = record_files::last_and_found(self.workspace.root(), options, &self.format())?;
        let follows = self.settings.format != Format::OrchestratorState;
        Ok((last.filter(|_| follows), found))
    }

    /// The state files that `read` finds, by the names that their format gives them, and the format: a folder
    /// is that of files with these names, a file may have any name, and its siblings stand beside it. `read`
    /// is given the place of a name among those of its format. Where records are there, `is_own` files are
    /// those of the configured format.
    fn state_files(
        &self,
        is_own: bool,
        is_folder: bool,
        read: impl Fn(Format, usize, &str) -> Result<Option<Vec<u8>>, SystemError>,
    ) -> Result<Option<(Format, Files)>, SystemError> {
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

fn nothing(place: String) -> SystemError {
    SystemError::NothingToImport { wanted: "state file of coordination in", place }
}
