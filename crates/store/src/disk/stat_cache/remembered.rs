//! The files that the manifest lists, remembered in the cache.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: the manifest's stat and the cache's header are read here"
)]

use std::{fs, io::Read, ops::Range, path::Path};

use crate::disk::{file_stat::FileStat, own_file, own_file::Access};
use crate::disk::{
    stat_cache::StatCache, stat_cache::format::HEADER, stat_cache::format::ManifestKey,
    stat_cache::format::Mark, stat_cache::format::manifest_key,
};
use stepmark_model::artifact::FileHash;

impl ManifestKey {
    /// The key of the manifest at `path` as it is now; `None` where there is none.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let stat = FileStat::of(&fs::metadata(path).ok()?);
        let digest = FileHash::of(path.as_os_str().as_encoded_bytes());
        let path = digest.as_bytes().first_chunk().copied()?;
        Some(Self { path, stat })
    }

    /// Returns whether the cache at `file`, if it is whole, remembers this manifest in this state. Reads its
    /// header only.
    pub(crate) fn is_remembered_in(&self, file: &Path) -> bool {
        let mut header = [0; HEADER];
        read_header(file, &mut header).is_some() && manifest_key(&header) == *self
    }
}

fn read_header(file: &Path, header: &mut [u8]) -> Option<()> {
    let mut file = own_file::open(file.parent()?, file.file_name()?.as_ref(), Access::Read).ok()?;
    file.read_exact(header).ok()
}

impl StatCache {
    /// Returns whether the cache remembers this manifest, and it cannot have changed since without a trace.
    pub(crate) fn remembers(&self, key: &ManifestKey) -> bool {
        self.bytes.manifest() == *key && !key.stat.may_hide_a_change(self.hashing_began)
    }

    /// Returns what the remembered manifest says about the entry: nothing, or its hash, if it holds one.
    pub(crate) fn mark(&self, entry: usize) -> Option<Option<FileHash>> {
        match self.bytes.mark(entry) {
            Mark::Unlisted => None,
            Mark::Listed => Some(Some(self.bytes.hash(entry))),
            Mark::ListedUnhashed => Some(None),
        }
    }

    pub(crate) fn listed(&self, entries: Range<usize>) -> impl Iterator<Item = usize> {
        entries.filter(|entry| self.bytes.mark(*entry) != Mark::Unlisted)
    }
}
