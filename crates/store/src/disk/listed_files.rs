//! The files in a manifest, read or remembered.

use crate::disk::stat_cache::StatCache;
use sha2::{Digest, Sha256};
use std::{collections::HashSet, fs::File, io, io::Read, ops::Range};
use stepmark_model::artifact::FileHash;
use stepmark_model::projection::files_manifest::{
    LineEndHasher, LineEndHashes, ListedFolder, Listing, ManifestWarning,
};

#[derive(Debug)]
pub(crate) enum ListedFiles<'run> {
    Read(&'run Listing),
    /// Unchanged since an earlier run cached its entries.
    Remembered {
        cache: &'run StatCache,
        /// Folders with listed files, and all folders above them.
        reached: HashSet<&'run str>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListedFile<'run> {
    pub(crate) name: &'run [u8],
    /// `None` if the manifest has none.
    pub(crate) hash: Option<FileHash>,
}

impl<'run> ListedFiles<'run> {
    pub(crate) fn remembered(cache: &'run StatCache) -> Self {
        let mut reached = HashSet::new();
        for folder in cache.folders() {
            if cache.listed(cache.folder(folder)).next().is_none() {
                continue;
            }
            let mut rest = folder;
            reached.insert(rest);
            while let Some(slash) = rest.rfind('/') {
                rest = &rest[..slash];
                reached.insert(rest);
            }
        }
        Self::Remembered { cache, reached }
    }

    pub(crate) fn reaches_into(&self, folder: &str) -> bool {
        match self {
            Self::Read(listing) => listing.reaches_into(folder),
            Self::Remembered { reached, .. } => reached.contains(folder),
        }
    }

    /// All folders with listed files (and perhaps others), unordered.
    pub(crate) fn folders(&self) -> Vec<&'run str> {
        match self {
            Self::Read(listing) => listing.folders().iter().map(ListedFolder::path).collect(),
            Self::Remembered { cache, .. } => cache.folders().collect(),
        }
    }

    /// The files directly in `folder`, by byte order of names, from `first` up to but not including `end`.
    pub(crate) fn in_folder(&self, folder: &str, first: Option<&str>, end: Option<&str>) -> FolderRows<'run> {
        match self {
            Self::Read(listing) => listing.folder(folder).map_or(FolderRows::None, |folder| {
                let place = |name: Option<&str>, or| name.map_or(or, |name| folder.place_from(name));
                FolderRows::Read { folder, places: place(first, 0)..place(end, folder.len()) }
            }),
            Self::Remembered { cache, .. } => {
                let entries = cache.folder(folder);
                let entry = |name: Option<&str>, or| name.map_or(or, |name| cache.entry_from(&entries, name));
                FolderRows::Remembered {
                    cache,
                    entries: entry(first, entries.start)..entry(end, entries.end),
                }
            }
        }
    }

    /// A manifest with oddities is never remembered.
    pub(crate) fn oddities(&self) -> &'run [ManifestWarning] {
        match self {
            Self::Read(listing) => listing.oddities(),
            Self::Remembered { .. } => &[],
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum FolderRows<'run> {
    None,
    Read { folder: &'run ListedFolder, places: Range<usize> },
    Remembered { cache: &'run StatCache, entries: Range<usize> },
}

impl<'run> Iterator for FolderRows<'run> {
    type Item = ListedFile<'run>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::None => None,
            Self::Read { folder, places } => {
                let place = places.next()?;
                Some(ListedFile { name: folder.name(place).as_bytes(), hash: folder.hash(place) })
            }
            Self::Remembered { cache, entries } => entries
                .find_map(|entry| cache.mark(entry).map(|hash| ListedFile { name: cache.name(entry), hash })),
        }
    }
}

const PIECE: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct FileHasher {
    buffer: Box<[u8]>,
}

impl FileHasher {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; PIECE].into_boxed_slice() }
    }

    /// Hashes the rest of `file`; a wrong `size` only costs time.
    pub(crate) fn hash(&mut self, file: File, size: u64) -> io::Result<FileHash> {
        let mut digest = Sha256::new();
        self.pieces(file, Some(size), |piece| digest.update(piece))?;
        Ok(FileHash::from_digest(digest.finalize().into()))
    }

    pub(crate) fn line_ends(&mut self, file: File) -> io::Result<LineEndHashes> {
        let mut hasher = LineEndHasher::default();
        self.pieces(file, None, |piece| hasher.update(piece))?;
        Ok(hasher.finish())
    }

    fn pieces(&mut self, mut file: File, size: Option<u64>, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        let mut taken = 0;
        loop {
            match file.read(&mut self.buffer) {
                Ok(0) => return Ok(()),
                Ok(length) => {
                    take(&self.buffer[..length]);
                    taken += length as u64;
                    // A short read at the size of the stat: the file has not grown.
                    if length < PIECE && size == Some(taken) {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, Write};

    #[test]
    fn hashes_files_of_any_length() {
        let mut hasher = FileHasher::new();
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7] {
            let bytes: Vec<u8> = (0..length).map(|at| if at % 40 == 39 { b'\n' } else { b'\r' }).collect();
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            // What the file held at the time of the stat: as much, less because it has grown, or more.
            for size in [length, length / 2, 0, length.saturating_sub(PIECE), length + 1] {
                file.rewind().unwrap();
                let hash = hasher.hash(file.try_clone().unwrap(), size as u64).unwrap();
                assert_eq!(hash, FileHash::of(&bytes), "{length} {size}");
            }
            file.rewind().unwrap();
            assert_eq!(hasher.line_ends(file).unwrap(), LineEndHashes::of(&bytes), "{length}");
        }
    }
}
