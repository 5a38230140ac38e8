//! The hashes of unchanged files.
//!
//! The cache is disposable: it is used or ignored as a whole, and a wrong one costs time, never correctness.
//! It is in `.stepmark/local/cache/`, the only thing that a reading command may write. A hash is valid while
//! the file has the same size, times and inode as when hashed, and was not so new then that a change could
//! leave no trace (git's "racily clean"; see [`FileStat::may_hide_a_change`]).
//!
//! By the same rule it remembers the manifest's entries (`remembered`), so that an unchanged manifest is not
//! read: with 100,000 files that saves a fifth of a verification.
#![expect(clippy::disallowed_methods, reason = "an edge module: the cache file is read and written here")]

mod format;
mod renewal;
mod writer;

use std::{
    fs,
    io::Read,
    ops::Range,
    path::Path,
    time::{Instant, UNIX_EPOCH},
};

use crate::disk::{
    file_reading::{self, FileStat},
    own_file::{self, Access},
    stat_cache::format::{HEADER, Mark, manifest_key},
};
use format::{Bytes, Hashing};
use stepmark_model::artifact::FileHash;

pub(crate) use {
    format::ManifestKey,
    renewal::{FolderRenewal, ReadManifest, Renewal},
};

/// In bytes: about a million files.
const LIMIT: u64 = 256 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct StatCache {
    bytes: Bytes,
    /// In nanoseconds since 1970, file system time: entries that may hide a change since then are invalid.
    hashing_began: i64,
}

/// The start of a run, before it looks at any file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunStart {
    clock: Instant,
    /// Nanoseconds since 1970.
    pub(crate) moment: i64,
}

impl RunStart {
    pub(crate) fn now() -> Self {
        Self { clock: Instant::now(), moment: file_reading::now() }
    }

    fn hashing(self) -> Hashing {
        let took = i64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(i64::MAX);
        Hashing { began: self.moment, took }
    }
}

impl StatCache {
    /// `None` if there is no whole one of this version.
    pub(crate) fn load(file: &Path) -> Option<Self> {
        let file = own_file::open(file.parent()?, file.file_name()?.as_ref(), Access::Read).ok()?;
        let metadata = file.metadata().ok().filter(|found| found.len() <= LIMIT)?;
        let bytes = Bytes::read(&file, usize::try_from(metadata.len()).ok()?).ok()??;
        let written = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let written = i64::try_from(written.as_nanos()).ok()?;
        // File times may be another clock's (network file system), so the start is also computed back from
        // the cache file's own time.
        let Hashing { began, took } = bytes.hashing();
        Some(Self { bytes, hashing_began: began.min(written.saturating_sub(took)) })
    }

    pub(crate) fn folder(&self, path: &str) -> Range<usize> {
        let (mut low, mut high) = (0, self.bytes.folders());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.bytes.path(middle).cmp(path.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    let (first, end) = self.bytes.entries(middle);
                    return first..end;
                }
            }
        }
        0..0
    }

    pub(crate) fn folders(&self) -> impl Iterator<Item = &str> {
        // They were text when written.
        (0..self.bytes.folders()).filter_map(|folder| std::str::from_utf8(self.bytes.path(folder)).ok())
    }

    /// The first of `entries` (one folder's) with a name not less than `name`.
    pub(crate) fn entry_from(&self, entries: &Range<usize>, name: &str) -> usize {
        let (mut low, mut high) = (entries.start, entries.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.name(middle) < name.as_bytes() { low = middle + 1 } else { high = middle }
        }
        low
    }

    pub(crate) fn name(&self, entry: usize) -> &[u8] {
        self.bytes.name(entry)
    }

    pub(crate) fn note(&self, entry: usize) -> &[u8] {
        self.bytes.note(entry)
    }

    pub(crate) fn shared(&self) -> &[u8] {
        self.bytes.shared()
    }

    pub(crate) fn stat(&self, entry: usize) -> FileStat {
        self.bytes.stat(entry)
    }

    pub(crate) fn hash(&self, entry: usize, stat: &FileStat) -> Option<FileHash> {
        let known = self.bytes.stat(entry) == *stat && !stat.may_hide_a_change(self.hashing_began);
        known.then(|| self.bytes.hash(entry))
    }
}

/// Finds the entries of a folder's names, queried in ascending order.
#[derive(Debug)]
pub(crate) struct EntryCursor<'cache> {
    cache: Option<&'cache StatCache>,
    entries: Range<usize>,
}

impl<'cache> EntryCursor<'cache> {
    /// Starts at the first entry of `folder` with a name not less than `first`.
    pub(crate) fn new(cache: Option<&'cache StatCache>, folder: &str, first: &str) -> Self {
        let mut entries = cache.map_or(0..0, |cache| cache.folder(folder));
        if let Some(cache) = cache {
            entries.start = cache.entry_from(&entries, first);
        }
        Self { cache, entries }
    }

    pub(crate) fn find(&mut self, name: &str) -> Option<(&'cache StatCache, usize)> {
        let cache = self.cache?;
        while !self.entries.is_empty() {
            let entry = self.entries.start;
            let known = cache.name(entry);
            // Nearly always equal, which is cheaper to test than the order.
            let is_found = known == name.as_bytes();
            if !is_found && known > name.as_bytes() {
                return None;
            }
            self.entries.start += 1;
            if is_found {
                return Some((cache, entry));
            }
        }
        None
    }
}

impl ManifestKey {
    /// `None` if there is no manifest.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let stat = FileStat::of(&fs::metadata(path).ok()?);
        let digest = FileHash::of(path.as_os_str().as_encoded_bytes());
        let path = digest.as_bytes().first_chunk().copied()?;
        Some(Self { path, stat })
    }

    /// Reads only the header, so the cache may be torn.
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
    /// True if the manifest is remembered, and cannot have changed since without a trace.
    pub(crate) fn remembers(&self, key: &ManifestKey) -> bool {
        self.bytes.manifest() == *key && !key.stat.may_hide_a_change(self.hashing_began)
    }

    /// The remembered manifest's entry: none, or its hash, if it has one.
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

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, fs};

    use super::*;

    const LONG_AGO: i64 = 1_000_000_000_123;

    fn stat(size: u64, changed: i64) -> FileStat {
        FileStat { size, modified: LONG_AGO, changed, inode: 7 }
    }

    /// A run that begins at `moment` and learns of the files of a folder: name, last change.
    fn renewed(moment: i64, earlier: Option<&StatCache>, file: &Path, path: &str, names: &[(&str, i64)]) {
        let mut folder = FolderRenewal::new(path);
        for (name, changed) in names {
            folder.hashed(name, stat(1, *changed), FileHash::of(name.as_bytes()));
        }
        if let Some(cache) = earlier {
            cache.folder(path).for_each(|entry| folder.keep(entry));
        }
        let visited = HashSet::from([path.to_owned()]);
        let start = RunStart { moment, ..RunStart::now() };
        let renewal =
            Renewal { start, folders: vec![folder], visited: &visited, manifest: None, shared: &[] };
        renewal.write(earlier, file).unwrap();
    }

    fn hash(cache: &StatCache, folder: &str, name: &str, stat: &FileStat) -> Option<FileHash> {
        let (cache, entry) = EntryCursor::new(Some(cache), folder, "").find(name)?;
        cache.hash(entry, stat)
    }

    #[test]
    fn knows_a_file_by_its_stat_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cache/files.stat");
        assert!(StatCache::load(&file).is_none());
        let now = RunStart::now().moment;
        renewed(now, None, &file, "docs", &[("a", LONG_AGO), ("ü", LONG_AGO)]);
        let cache = StatCache::load(&file).unwrap();
        let same = stat(1, LONG_AGO);
        assert_eq!(hash(&cache, "docs", "ü", &same), Some(FileHash::of("ü".as_bytes())));
        for other in [
            FileStat { size: 2, ..same },
            FileStat { modified: LONG_AGO + 1, ..same },
            FileStat { changed: LONG_AGO + 1, ..same },
            FileStat { inode: 8, ..same },
        ] {
            assert_eq!(hash(&cache, "docs", "a", &other), None, "{other:?}");
        }
        assert_eq!(hash(&cache, "docs", "b", &same), None);
        assert_eq!(hash(&cache, "doc", "a", &same), None);
        fs::write(&file, "torn").unwrap();
        assert!(StatCache::load(&file).is_none());
        let left = fs::read_dir(file.parent().unwrap()).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".gitignore", "files.stat"], "no staged file is left");
    }

    #[test]
    fn a_file_as_new_as_the_run_that_hashed_it_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("files.stat");
        let now = RunStart::now().moment;
        let names = [("at-once", now), ("just-before", now - 1_000_000), ("before", now - 5_000_000_000)];
        renewed(now, None, &file, "", &names);
        let cache = StatCache::load(&file).unwrap();
        let believed = |name, changed| hash(&cache, "", name, &stat(1, changed)).is_some();
        assert_eq!(names.map(|(name, changed)| believed(name, changed)), [false, false, true]);
    }

    #[test]
    fn a_later_cache_does_not_make_a_doubtful_entry_believable() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("files.stat");
        let now = RunStart::now().moment;
        let before = now - 3_000_000_000;
        renewed(before, None, &file, "", &[("doubtful", before), ("good", LONG_AGO)]);
        let earlier = StatCache::load(&file).unwrap();
        renewed(now, Some(&earlier), &file, "", &[]);
        let later = StatCache::load(&file).unwrap();
        assert_eq!(hash(&later, "", "doubtful", &stat(1, before)), None);
        assert!(hash(&later, "", "good", &stat(1, LONG_AGO)).is_some());
    }

    #[test]
    fn a_clock_that_is_behind_the_file_system_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("files.stat");
        let now = RunStart::now().moment;
        // This machine's clock is an hour ahead of the one that gave the files their times.
        renewed(now + 3_600_000_000_000, None, &file, "", &[("new", now)]);
        let cache = StatCache::load(&file).unwrap();
        assert_eq!(hash(&cache, "", "new", &stat(1, now)), None);
    }

    #[test]
    fn folders_of_another_scope_are_kept_until_they_outweigh_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("files.stat");
        let now = RunStart::now().moment;
        let known = |path| StatCache::load(&file).unwrap().folder(path).len();
        renewed(now, None, &file, "other", &[("a", LONG_AGO), ("b", LONG_AGO)]);
        let earlier = StatCache::load(&file);
        renewed(now, earlier.as_ref(), &file, "docs", &[("a", LONG_AGO), ("b", LONG_AGO)]);
        assert_eq!((known("docs"), known("other")), (2, 2));
        let earlier = StatCache::load(&file);
        renewed(now, earlier.as_ref(), &file, "new", &[("a", LONG_AGO)]);
        assert_eq!((known("new"), known("docs"), known("other")), (1, 0, 0));
    }

    #[test]
    fn a_file_from_the_future_does_not_renew_the_cache_for_ever() {
        let start = RunStart::now();
        let worthwhile = |changed| {
            let mut folder = FolderRenewal::new("");
            folder.hashed("a", stat(1, changed), FileHash::of(b""));
            let visited = HashSet::new();
            Renewal { start, folders: vec![folder], visited: &visited, manifest: None, shared: &[] }
                .is_worthwhile(None)
        };
        assert!(worthwhile(LONG_AGO) && !worthwhile(start.moment + 1_000_000_000_000));
    }
}
