//! The state of the files that follow the records, and what a check finds in them.

use super::{Coordination, RecordsError};
use crate::git::{GitVersion, GitVersionError};
use crate::projection::file_findings::{self, FileFindings, FollowingFile};
use crate::repository::ChangedArtifact;
use stepmark_model::{
    artifact::ProjectPath,
    coordination::{Format, State},
    records::RecordSet as _,
};

impl Coordination<'_> {
    /// The records in `version`, where there are some that can be read, and one of them is `changed`, or a
    /// file that follows them.
    ///
    /// # Errors
    /// When git does not answer.
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
    ///
    /// # Errors
    /// When the records cannot be read.
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
