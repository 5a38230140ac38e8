//! The digests of what projections wrote last: a file for each of them in the state of this clone. One that is lost makes no
//! difference but that an edit of a file is not told from an older version of it.

use std::collections::BTreeMap;

use crate::commit::{FsyncPolicy, replace_state_file};
use crate::disk::{Root, local_state::StateFolder, own_file};
use stepmark_model::artifact::{FileHash, ProjectPath};

/// A line is about 150 bytes, and a projection has a few files.
const LIMIT: u64 = 1024 * 1024;

/// The digests of one projection.
#[derive(Debug)]
pub(super) struct Memory<'r> {
    root: &'r Root,
    file_name: String,
    digests: BTreeMap<String, String>,
    is_changed: bool,
}

impl<'r> Memory<'r> {
    /// Reads those of the projection `name`; none where there are none that can be read.
    pub(super) fn of(root: &'r Root, name: &str) -> Self {
        let file_name = format!("{name}.json");
        let folder = root.state().folder(StateFolder::Projections).ok();
        let bytes = folder.and_then(|folder| own_file::read(&folder, file_name.as_ref(), LIMIT).ok());
        let digests = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Self { root, file_name, digests, is_changed: false }
    }

    /// The digest of what was written to `path`.
    pub(super) fn digest(&self, path: &ProjectPath) -> Option<FileHash> {
        self.digests.get(path.as_str())?.parse().ok()
    }

    /// Notes that `path` holds what has this digest.
    pub(super) fn note(&mut self, path: &ProjectPath, digest: FileHash) {
        let (path, digest) = (path.to_string(), digest.to_string());
        self.is_changed |= self.digests.insert(path, digest.clone()) != Some(digest);
    }

    /// Keeps what was noted. A failure costs no more than the memory.
    pub(super) fn keep(&self) {
        if !self.is_changed {
            return;
        }
        let Ok(folder) = self.root.state().make(StateFolder::Projections) else { return };
        let bytes = serde_json::json!(self.digests).to_string().into_bytes();
        let _forgotten = replace_state_file(&folder, &self.file_name, &bytes, FsyncPolicy::Never);
    }
}
