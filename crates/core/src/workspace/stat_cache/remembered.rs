//! What the manifest lists, remembered in the cache.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: the manifest's stat and the cache's header are read here"
)]

use std::{
    fs::{self, File},
    io::Read,
    path::Path,
};

use super::{
    StatCache,
    format::{HEADER, ManifestKey, Mark, manifest_key},
};
use crate::{document::FileHash, project::files_manifest::Listing, workspace::file_stat::FileStat};

impl ManifestKey {
    /// The key of the manifest at `path` as it is now; `None` where there is none.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let stat = FileStat::of(&fs::metadata(path).ok()?);
        let digest = FileHash::of(path.as_os_str().as_encoded_bytes());
        let path = digest.as_bytes().first_chunk().copied()?;
        Some(Self { path, stat })
    }

    /// Whether the cache at `file`, if it is whole, remembers this manifest in this state. Reads its header only.
    pub(crate) fn is_remembered_in(&self, file: &Path) -> bool {
        let mut header = [0; HEADER];
        File::open(file).and_then(|mut file| file.read_exact(&mut header)).is_ok()
            && manifest_key(&header) == *self
    }
}

impl StatCache {
    /// Whether the cache remembers this manifest, and the manifest cannot have changed since without a trace.
    pub(super) fn remembers(&self, key: &ManifestKey) -> bool {
        self.bytes.manifest() == *key && !key.stat.may_hide_a_change(self.hashing_began)
    }

    /// What the manifest lists, if it is remembered.
    pub(crate) fn listing(&self, key: &ManifestKey) -> Option<Listing> {
        if !self.remembers(key) {
            return None;
        }
        let mut listing = Listing::default();
        for folder in 0..self.bytes.folders() {
            let (first, end) = self.bytes.entries(folder);
            let path = std::str::from_utf8(self.bytes.path(folder)).ok()?;
            // Names were text when they were written.
            let text = |entry| std::str::from_utf8(self.bytes.name(entry)).unwrap_or_default();
            let file = |entry| match self.bytes.mark(entry) {
                Mark::Unlisted => None,
                Mark::Listed => Some((text(entry), Some(self.bytes.hash(entry)))),
                Mark::ListedUnhashed => Some((text(entry), None)),
            };
            listing.push_folder(path, (first..end).filter_map(file));
        }
        Some(listing)
    }
}
