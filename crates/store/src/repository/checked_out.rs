//! The commit and the index that git has checked out, asked whether they explain the state of a file.

use crate::disk::root::Root;
use crate::git::{process::is_repository, version::Object, version::ObjectReader};
use crate::repository::Repository;
use stepmark_model::{
    artifact::ProjectPath,
    journal::{ArtifactState, Digests},
};

/// The checked out commit and the index. Git is started at the first question; without git there is no answer
/// but no.
#[derive(Debug)]
pub struct CheckedOut {
    root: Root,
    /// `None` until it is asked; then `None` inside where git does not answer.
    objects: Option<Option<ObjectReader>>,
}

impl CheckedOut {
    pub(crate) fn of(root: &Root) -> Self {
        Self { root: root.clone(), objects: None }
    }

    /// Returns whether the commit that is checked out, or the index, has the file at `path` in the state of
    /// `file` (`None`: has none): then a checkout, and no editor, may have brought it there.
    pub fn explains(&mut self, path: &ProjectPath, file: Option<Digests>) -> bool {
        let Some(found) = self.read(path, &[format!("HEAD:./{path}"), format!(":./{path}")]) else {
            return false;
        };
        found.iter().any(|object| match object {
            Object::Blob(bytes) => {
                file.is_some() && Digests::are_same_state(ArtifactState::of(path, Some(bytes)).digests, file)
            }
            Object::Missing => file.is_none(),
            Object::OverLimit(_) | Object::Folder(_) | Object::Other => false,
        })
    }

    pub fn lacks(&mut self, path: &ProjectPath) -> bool {
        let found = self.read(path, &["HEAD".to_owned(), format!("HEAD:./{path}")]);
        found.is_some_and(|found| found == [Object::Other, Object::Missing])
    }

    pub fn has(&mut self, path: &ProjectPath) -> bool {
        let found = self.read(path, &[format!("HEAD:./{path}")]).unwrap_or_default();
        matches!(found.first(), Some(Object::Blob(_) | Object::OverLimit(_)))
    }

    /// Returns whether the commit that is checked out, or the index, has these bytes at `path`, whatever
    /// their line ends.
    #[cfg(feature = "write")]
    pub(crate) fn keeps(&mut self, path: &ProjectPath, bytes: &[u8]) -> bool {
        let found = self.read(path, &[format!("HEAD:./{path}"), format!(":./{path}")]).unwrap_or_default();
        let with_lf = crate::repository::git::with_lf(bytes);
        found
            .iter()
            .any(|object| matches!(object, Object::Blob(kept) if **kept == *bytes || **kept == *with_lf))
    }

    fn read(&mut self, path: &ProjectPath, names: &[String]) -> Option<Vec<Object>> {
        if path.as_str().contains('\n') {
            return None;
        }
        let start =
            || is_repository(&self.root).then(|| ObjectReader::start(self.root.path()).ok()).flatten();
        self.objects.get_or_insert_with(start).as_mut()?.read(names).ok()
    }
}

impl Repository<'_> {
    /// The commit and the index that git has checked out.
    pub fn checked_out(&self) -> CheckedOut {
        CheckedOut::of(self.workspace.root())
    }
}
