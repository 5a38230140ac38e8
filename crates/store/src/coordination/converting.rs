//! The change from one format to another, and copies of the state file.

use super::{Coordination, CoordinationFiles};
use crate::commit::{Expected, read_whole, replace_whole};
use crate::projection::file_findings::{FileFindings, FollowingFile};
use crate::projection::{ProjectionError, record_files, record_format::Overwrite};
use crate::records::{ChangedRecords as _, RecordsError, SystemError};
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_model::artifact::ProjectPath;
use stepmark_model::coordination::{Format, SYSTEM, State, file_stem};

impl Coordination<'_> {
    /// Keeps the records for programs of another option from now on: its files are written, the
    /// configuration names it, and the files of the option before go where nobody else wrote them. Returns
    /// those that were written, and those that went.
    pub fn convert(&self, to: Format) -> Result<(CoordinationFiles, Vec<ProjectPath>), SystemError> {
        let key =
            |format: &Format| (KeyPath::key("coordination").then("option"), Value::from(format.to_string()));
        let (option, value) = key(&to);
        let changed = self.workspace.configure(option, value)?;
        let Some(coordination) = changed.coordination() else {
            return Err(RecordsError::NotBegun { system: &SYSTEM }.into());
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

    pub fn checkpoint_path(&self, name: &str) -> Result<ProjectPath, SystemError> {
        Ok(self.settings.folder.join("checkpoints")?.join(&format!("{}.json", file_stem(name)))?)
    }

    /// Writes the state file, and keeps a copy of it under `name`.
    pub fn checkpoint(&self, name: &str) -> Result<ProjectPath, SystemError> {
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
    pub fn file_states(&self) -> Result<Vec<FollowingFile>, SystemError> {
        self.states_of_files()
    }

    /// The findings in the files of the configured format, where the records are `state` and `read` gives a
    /// file. Those of option C are written when somebody asks for it.
    pub(crate) fn file_findings(
        &self,
        state: &State,
        read: impl Fn(&ProjectPath) -> Option<Vec<u8>>,
    ) -> Vec<FileFindings> {
        self.findings_of_files(state, self.settings.format == Format::OrchestratorState, read)
    }
}
