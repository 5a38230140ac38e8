//! Which of the files on disk a request speaks of.

use crate::disk::ignore_files::Unignored;
use crate::manifest::{IgnoreFiles, ManifestRequest, own_path};

/// The scope of a request, less what ignore files take out of it, less the manifest itself.
#[derive(Debug)]
pub(super) struct Selection<'run> {
    request: &'run ManifestRequest<'run>,
    manifest: Option<String>,
    unignored: Option<Unignored>,
}

impl<'run> Selection<'run> {
    pub(super) fn new(request: &'run ManifestRequest<'run>) -> Self {
        let unignored = match request.ignore_files {
            IgnoreFiles::Disregarded => None,
            IgnoreFiles::Honoured => Some(Unignored::below(request.root.path())),
        };
        Self { request, manifest: own_path(request), unignored }
    }

    /// Whether files of this folder, or of folders below it, can belong to the selection.
    pub(super) fn enters(&self, folder: &str) -> bool {
        self.request.scope.enters(folder) && self.leaves_over(folder)
    }

    /// Whether the file belongs to the selection, listed or not.
    pub(super) fn holds(&self, path: &str) -> bool {
        !self.is_manifest(path) && self.request.scope.holds(path) && self.leaves_over(path)
    }

    /// Whether the path is that of the manifest itself, which cannot hold its own hash.
    pub(super) fn is_manifest(&self, path: &str) -> bool {
        self.manifest.as_deref() == Some(path)
    }

    fn leaves_over(&self, path: &str) -> bool {
        self.unignored.as_ref().is_none_or(|unignored| unignored.contains(path))
    }
}
