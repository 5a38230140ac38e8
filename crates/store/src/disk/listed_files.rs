//! The files that a manifest lists, whether it was read or is remembered.

use std::{collections::HashSet, ops::Range};

use crate::disk::stat_cache::StatCache;
use stepmark_model::{
    artifact::FileHash,
    projection::files_manifest::{ListedFolder, Listing, ManifestWarning},
};

/// The files that a manifest lists.
#[derive(Debug)]
pub(crate) enum ListedFiles<'run> {
    /// The manifest was read.
    Read(&'run Listing),
    /// The manifest has not changed since an earlier run put what it lists into the cache.
    Remembered {
        cache: &'run StatCache,
        /// The folders that have listed files, and all folders above them.
        reached: HashSet<&'run str>,
    },
}

/// One listed file of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListedFile<'run> {
    /// Its name.
    pub(crate) name: &'run [u8],
    /// Its hash in the manifest; `None` where the manifest holds none.
    pub(crate) hash: Option<FileHash>,
}

impl<'run> ListedFiles<'run> {
    /// Returns the files that the cache remembers.
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

    /// Returns whether a file in `folder` or anywhere below it is listed.
    pub(crate) fn reaches_into(&self, folder: &str) -> bool {
        match self {
            Self::Read(listing) => listing.reaches_into(folder),
            Self::Remembered { reached, .. } => reached.contains(folder),
        }
    }

    /// Every folder that has listed files (and perhaps others), in no order.
    pub(crate) fn folders(&self) -> Vec<&'run str> {
        match self {
            Self::Read(listing) => listing.folders().iter().map(ListedFolder::path).collect(),
            Self::Remembered { cache, .. } => cache.folders().collect(),
        }
    }

    /// The files listed directly in `folder`, in the byte order of their names; of these only those from
    /// `first` on and before `end`, where these are given.
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

    /// Returns the oddities of the manifest; one with oddities is never remembered.
    pub(crate) fn oddities(&self) -> &'run [ManifestWarning] {
        match self {
            Self::Read(listing) => listing.oddities(),
            Self::Remembered { .. } => &[],
        }
    }
}

/// The listed files of one folder.
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
