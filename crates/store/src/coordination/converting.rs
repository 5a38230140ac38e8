//! The change from one format to another, and copies of the state file.

use super::{Coordination, CoordinationError, CoordinationFiles, RecordsError};
use crate::commit::{Expected, read_whole, replace_whole};
use crate::git::{GitVersion, GitVersionError};
use crate::projection::file_findings::{FileFindings, FollowingFile};
use crate::projection::record_format::Overwrite;
use crate::projection::{ProjectionError, file_findings, record_files};
use crate::repository::ChangedArtifact;
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_model::artifact::ProjectPath;
use stepmark_model::coordination::{Format, State, file_stem};
use stepmark_model::records::RecordSet as _;

impl Coordination<'_> {
    /// Keeps the records for programs of another option from now on: its files are written, the
    /// configuration names it, and the files of the option before go where nobody else wrote them. Returns
    /// those that were written, and those that went.
    pub fn convert(&self, to: Format) -> Result<(CoordinationFiles, Vec<ProjectPath>), CoordinationError> {
        let key =
            |format: &Format| (KeyPath::key("coordination").then("option"), Value::from(format.to_string()));
        let (option, value) = key(&to);
        let changed = self.workspace.configure(option, value)?;
        let Some(coordination) = changed.coordination() else {
            return Err(RecordsError::NotBegun { folder: self.settings.folder.clone() }.into());
        };
        let files = coordination.project(&Overwrite::None).or_else(|error| {
            // The files of the option before are those that are there.
            let (option, value) = key(&self.settings.format);
            changed.configure(option, value)?;
            Err(error)
        })?;
        let options = self.workspace.commit_options();
        Ok((files, record_files::withdraw(self.workspace.root(), options, &self.format())?))
    }

    /// The path of the copy of the state file that is kept under `name`.
    pub fn checkpoint_path(&self, name: &str) -> Result<ProjectPath, CoordinationError> {
        Ok(self.settings.folder.join("checkpoints")?.join(&format!("{}.json", file_stem(name)))?)
    }

    /// Writes the state file, and keeps a copy of it under `name`.
    pub fn checkpoint(&self, name: &str) -> Result<ProjectPath, CoordinationError> {
        self.project(&Overwrite::None)?;
        let (root, options) = (self.workspace.root(), self.workspace.commit_options());
        let bytes =
            read_whole(root, &self.settings.state_file).map_err(ProjectionError::from)?.unwrap_or_default();
        let path = self.checkpoint_path(name)?;
        let before = read_whole(root, &path).map_err(ProjectionError::from)?;
        replace_whole(root, &path, Expected::of(before.as_deref()), &bytes, options)
            .map_err(ProjectionError::from)?;
        Ok(path)
    }
}

impl Coordination<'_> {
    /// The records in `version`, where there are some that can be read, and one of them is `changed`, or a
    /// file that follows them.
    pub(crate) fn state_in(
        &self,
        changed: &[ChangedArtifact],
        version: &GitVersion,
    ) -> Result<Option<State>, GitVersionError> {
        let own = (&self.format(), &self.settings.folder);
        let is_touched = changed.iter().any(|changed| changed.latest().path().starts_with(own.1));
        let Some(files) = file_findings::files_touched(own, is_touched, version)? else { return Ok(None) };
        let records: Result<Vec<_>, _> =
            files.into_iter().map(|(path, bytes)| self.read_bytes(&path, bytes)).collect();
        // One that is damaged has findings of its own.
        Ok(records.ok().and_then(|records| State::from_records(records.into_iter().flatten())))
    }

    /// The files of the configured format that are there or were written here, each with its state.
    pub fn file_states(&self) -> Result<Vec<FollowingFile>, RecordsError> {
        let read = |path: &ProjectPath| self.workspace.read_file(path).ok();
        Ok(file_findings::states(self.workspace.root(), &self.format(), &self.state()?, read))
    }

    /// The findings in the files of the configured format, where the records are `state` and `read` gives a
    /// file. Those of option C are written when somebody asks for it, so that they may be older than the
    /// records.
    pub(crate) fn file_findings(
        &self,
        state: &State,
        read: impl Fn(&ProjectPath) -> Option<Vec<u8>>,
    ) -> Vec<FileFindings> {
        let is_old_as_wanted = self.settings.format == Format::OrchestratorState;
        let format = (&self.format(), is_old_as_wanted);
        file_findings::findings(self.workspace.root(), format, state, read)
    }
}
