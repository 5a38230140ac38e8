//! The summary of autodev as a file.

use std::borrow::Cow;

use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    autodev::summary,
    projection::ProjectionFacts,
};

use super::{Autodev, AutodevError};
use crate::changes::ChangeError;
use crate::commit::{CommitError, make_folders_to, read_whole};
use crate::projection::{
    OnEdit, ProjectedFile, Projection, ProjectionError, Published, Witness, publish, was_written,
};

struct Summary<'s> {
    path: &'s ProjectPath,
    text: String,
    found: Option<FileHash>,
    is_foreign: bool,
}

impl Projection for Summary<'_> {
    const FACTS: ProjectionFacts = ProjectionFacts::AUTODEV_SUMMARY;

    fn files(&self) -> Vec<ProjectedFile<'_>> {
        vec![ProjectedFile {
            path: Cow::Borrowed(self.path),
            bytes: Cow::Borrowed(self.text.as_bytes()),
            found: self.found,
            witness: Witness::Memory,
            on_edit: OnEdit::Keep,
            is_foreign: self.is_foreign,
        }]
    }
}

impl Autodev<'_> {
    pub const fn has_summary(&self) -> bool {
        self.settings.summary.is_some()
    }

    /// Writes the summary into its file; `None` where the configuration names none, or no position is noted.
    pub fn publish_summary(&self) -> Result<Option<Published>, AutodevError> {
        let Some(path) = &self.settings.summary else { return Ok(None) };
        let status = self.status()?;
        let Some(noted) = status.position() else { return Ok(None) };
        let root = self.workspace.root();
        let options = self.workspace.commit_options();
        make_folders_to(root, path, options.fsync).map_err(CommitError::from).map_err(ChangeError::from)?;
        let found = read_whole(root, path).map_err(ProjectionError::from)?;
        let text = summary(&status.flow, noted);
        let is_own = |found: &Vec<u8>| found.starts_with(b"# autodev: ");
        let is_foreign = !found.as_ref().is_none_or(is_own)
            && !was_written(root, ProjectionFacts::AUTODEV_SUMMARY.name, path);
        let found = found.as_deref().map(FileHash::of);
        Ok(Some(publish(root, options, &Summary { path, text, found, is_foreign })?))
    }
}
