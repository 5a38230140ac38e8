//! The files of the configured format, which follow the records.

use std::{collections::BTreeMap, sync::PoisonError};

use super::{Coordination, CoordinationError};
use crate::commit::{CommitOptions, Expected, FsyncPolicy, read_whole, replace_whole};
use crate::projection::ProjectionError;
use crate::projection::record_files::{self, DriftedRecord, Files, Followed, Overwrite, RecordFormat};
use crate::workspace::Workspace;
use stepmark_model::{
    artifact::ProjectPath,
    coordination::{Drift, Format, Record, Signals, State, latest_time, merge, read, render, result_file},
    transition::Remark,
};

/// The state of the files that follow: what was written, and what other programs changed in them.
pub type CoordinationFiles = Followed<Drift>;

impl DriftedRecord for Drift {
    fn id(&self) -> &str {
        &self.id
    }
}

/// The records of a project in one format.
pub(super) struct FormatOf<'c, 'w> {
    coordination: &'c Coordination<'w>,
    format: Format,
    signals: Signals,
}

impl FormatOf<'_, '_> {
    /// The path of the file that the format calls `name`.
    fn path(&self, name: &str) -> Option<ProjectPath> {
        let settings = self.coordination.settings;
        match self.format {
            Format::OrchestratorState => Some(settings.state_file.clone()),
            _ => settings.folder.join(name).ok(),
        }
    }
}

impl RecordFormat for FormatOf<'_, '_> {
    type State = State;
    type Drift = Drift;
    type Error = CoordinationError;

    fn name(&self) -> &'static str {
        match self.format {
            Format::TasksFile => "coordination-a",
            Format::ServerState => "coordination-b",
            Format::OrchestratorState => "coordination-c",
        }
    }

    fn present(&self) -> Result<State, CoordinationError> {
        Ok(self.coordination.state()?)
    }

    fn render(&self, state: &State) -> Files {
        // The time of writing is that of the latest record: the same records give the same bytes.
        let time = latest_time(state, &self.signals);
        let files = render(self.format, state, &self.signals, &time);
        files.into_iter().filter_map(|(name, bytes)| Some((self.path(&name)?, bytes))).collect()
    }

    fn read(&self, files: &Files) -> Option<State> {
        let named: BTreeMap<String, Vec<u8>> =
            files.iter().map(|(path, bytes)| (path.file_name().to_owned(), bytes.clone())).collect();
        read(self.format, &named).ok()
    }

    fn is_same(&self, one: &State, other: &State) -> bool {
        merge(self.format, None, one, other).drift.is_empty()
    }

    fn merge(
        &self,
        (base, theirs, ours): (Option<&State>, &State, &State),
        is_overwritten: &dyn Fn(&str) -> bool,
    ) -> (State, Vec<Drift>) {
        let merged = merge(self.format, base, theirs, ours);
        let given_up = |kind, id: &str| {
            is_overwritten(id) && merged.drift.iter().any(|drift| drift.kind == kind && drift.id == id)
        };
        let kept = merged.state.records().filter(|record| !given_up(record.kind, &record.id)).cloned();
        let own = ours.records().filter(|record| given_up(record.kind, &record.id)).cloned();
        let state = State::from_records(kept.chain(own)).unwrap_or_else(|| ours.clone());
        (state, merged.drift)
    }
}

impl Workspace {
    /// Makes the files of other programs follow a change of the artifact at `path`, where it is a record.
    pub(crate) fn follow_records(&self, path: &ProjectPath) -> Option<Remark> {
        let coordination = self.coordination().filter(|own| path.starts_with(&own.settings.folder))?;
        let failed = coordination.follow(&[]).err()?;
        Some(Remark::FilesLeft { reason: failed.to_string() })
    }
}

impl Coordination<'_> {
    pub(super) fn format(&self) -> FormatOf<'_, '_> {
        FormatOf { coordination: self, format: self.settings.format, signals: self.signals() }
    }

    /// Makes the files follow, where the format wants that after each change, with the results of the tasks
    /// in `ended`.
    pub(super) fn follow(&self, ended: &[Record]) -> Result<CoordinationFiles, CoordinationError> {
        match self.settings.format {
            Format::OrchestratorState => Ok(Followed::default()),
            _ => self.write_files(ended, &Overwrite::None),
        }
    }

    /// Makes the files follow, whatever the format; changes that other programs made are given up as
    /// `overwrite` says.
    ///
    /// # Errors
    /// When the records cannot be read, or a file cannot be written.
    pub fn project(&self, overwrite: &Overwrite) -> Result<CoordinationFiles, CoordinationError> {
        let tasks = self.state()?.tasks;
        self.write_files(&tasks, overwrite)
    }

    /// The records that other programs changed in the files.
    ///
    /// # Errors
    /// When the records or the files cannot be read.
    pub fn drift(&self) -> Result<Vec<Drift>, CoordinationError> {
        record_files::drift(self.workspace.root(), &self.format())
    }

    fn write_files(
        &self,
        ended: &[Record],
        overwrite: &Overwrite,
    ) -> Result<CoordinationFiles, CoordinationError> {
        let options = self.workspace.commit_options();
        let mut followed = record_files::follow(self.workspace.root(), options, &self.format(), overwrite)?;
        // A reader makes no file.
        self.known.lock().unwrap_or_else(PoisonError::into_inner).keep(self.workspace.root());
        if self.settings.format == Format::TasksFile {
            for (name, bytes) in ended.iter().filter_map(result_file) {
                followed.written.extend(self.write_result(&name, &bytes)?);
            }
        }
        Ok(followed)
    }

    /// Writes the result of a task, which is read by people and never back.
    fn write_result(&self, name: &str, bytes: &[u8]) -> Result<Option<ProjectPath>, CoordinationError> {
        let (root, path) = (self.workspace.root(), self.settings.folder.join(name)?);
        let found = read_whole(root, &path).map_err(ProjectionError::from)?;
        if found.as_deref() == Some(bytes) {
            return Ok(None);
        }
        let options = CommitOptions { fsync: FsyncPolicy::Never, ..*self.workspace.commit_options() };
        replace_whole(root, &path, Expected::of(found.as_deref()), bytes, &options)
            .map_err(ProjectionError::from)?;
        Ok(Some(path))
    }
}
