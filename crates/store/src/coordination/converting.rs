//! The change from one format to another, and copies of the state file.

use super::{Coordination, CoordinationError, CoordinationFiles, RecordsError};
use crate::commit::{Expected, read_whole, replace_whole};
use crate::projection::{ProjectionError, record_files, record_format::Overwrite};
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_model::{
    artifact::ProjectPath,
    coordination::{Format, file_stem},
};

impl Coordination<'_> {
    /// Keeps the records for programs of another option from now on: its files are written, the
    /// configuration names it, and the files of the option before go where nobody else wrote them. Returns
    /// those that were written, and those that went.
    ///
    /// # Errors
    /// When a file or the configuration cannot be written.
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
    ///
    /// # Errors
    /// When the name gives no path.
    pub fn checkpoint_path(&self, name: &str) -> Result<ProjectPath, CoordinationError> {
        Ok(self.settings.folder.join("checkpoints")?.join(&format!("{}.json", file_stem(name)))?)
    }

    /// Writes the state file, and keeps a copy of it under `name`.
    ///
    /// # Errors
    /// When one of them cannot be written.
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
