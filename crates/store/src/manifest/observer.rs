//! Looks at one file after the other: its stat, and its hash if the cache does not know it.

use std::{fs::File, io};

use crate::disk::folder::{EntryKind, Folder};
use crate::disk::listed_files::FileHasher;
use crate::disk::stat_cache::{EntryCursor, FolderRenewal, StatCache};
use crate::disk::{Root, file_stat::FileStat};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    projection::files_manifest::LineEndHashes,
};

#[derive(Debug)]
pub(super) enum Seen {
    File(FileHash),
    LinkedFolder,
    Gone,
    /// Something that is no file, or cannot be read, and why.
    Unreadable(String),
}

/// Hashes files, with the help of a cache.
#[derive(Debug)]
pub(super) struct Observer<'run> {
    root: &'run Root,
    cache: Option<&'run StatCache>,
    hasher: FileHasher,
    renewals: Vec<FolderRenewal>,
}

#[derive(Debug)]
pub(super) struct FolderPart<'run> {
    entries: EntryCursor<'run>,
    renewal: FolderRenewal,
}

impl<'run> Observer<'run> {
    pub(super) fn new(root: &'run Root, cache: Option<&'run StatCache>) -> Self {
        Self { root, cache, hasher: FileHasher::new(), renewals: Vec::new() }
    }

    pub(super) fn begin(&self, folder: &Folder, first: usize) -> FolderPart<'run> {
        let name = if first < folder.len() { folder.name(first) } else { "" };
        FolderPart {
            entries: EntryCursor::new(self.cache, folder.path(), name),
            renewal: FolderRenewal::new(folder.path()),
        }
    }

    pub(super) fn end(&mut self, part: FolderPart<'run>) {
        self.renewals.push(part.renewal);
    }

    pub(super) fn into_renewals(self) -> Vec<FolderRenewal> {
        self.renewals
    }

    /// Looks at the file at `place` of `folder`. Places come in ascending order.
    pub(super) fn look(&mut self, part: &mut FolderPart<'run>, folder: &Folder, place: usize) -> Seen {
        match self.hash(part, folder, place) {
            Ok(seen) => seen,
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && folder.kind(place) != EntryKind::Link =>
            {
                Seen::Gone
            }
            Err(error) => Seen::Unreadable(error.to_string()),
        }
    }

    pub(super) fn pass(&self, part: &mut FolderPart<'run>, name: &str) {
        if let Some((_, entry)) = part.entries.find(name) {
            part.renewal.keep(entry);
        }
    }

    /// The hashes that the file at `place` would have with other line ends; `None` if it cannot be read any
    /// more.
    pub(super) fn line_ends(&mut self, folder: &Folder, place: usize) -> Option<LineEndHashes> {
        folder.open_file(place).and_then(|file| self.hasher.line_ends(file)).ok()
    }

    /// The kind of what the link at `place` leads to: a file, a folder, or nothing that may be looked at, and
    /// why.
    pub(super) fn link_target(&self, folder: &Folder, place: usize) -> Result<EntryKind, String> {
        let (kind, _) = folder.stat(place).map_err(|error| error.to_string())?;
        stays_inside(self.root, &folder.path_of(folder.name(place)))?;
        Ok(kind)
    }

    fn hash(&mut self, part: &mut FolderPart<'run>, folder: &Folder, place: usize) -> io::Result<Seen> {
        let name = folder.name(place);
        let entry = part.entries.find(name);
        if entry.is_none() && folder.kind(place) == EntryKind::File {
            let (file, kind, stat) = folder.open_with_stat(place)?;
            return match not_a_file(kind, EntryKind::File) {
                Some(seen) => Ok(seen),
                None => self.hash_open(part, name, file, stat),
            };
        }
        let (kind, stat) = folder.stat(place)?;
        if folder.kind(place) == EntryKind::Link
            && let Err(reason) = stays_inside(self.root, &folder.path_of(name))
        {
            return Ok(Seen::Unreadable(reason));
        }
        if let Some(seen) = not_a_file(kind, folder.kind(place)) {
            return Ok(seen);
        }
        if let Some((cache, entry)) = entry
            && let Some(hash) = cache.hash(entry, &stat)
        {
            part.renewal.keep(entry);
            return Ok(Seen::File(hash));
        }
        self.hash_open(part, name, folder.open_file(place)?, stat)
    }

    /// Hashes what `file` holds; `stat` was taken before.
    fn hash_open(
        &mut self,
        part: &mut FolderPart<'run>,
        name: &str,
        file: File,
        stat: FileStat,
    ) -> io::Result<Seen> {
        let hash = self.hasher.hash(file, stat.size)?;
        part.renewal.hashed(name, stat, hash);
        Ok(Seen::File(hash))
    }
}

fn not_a_file(kind: EntryKind, listed: EntryKind) -> Option<Seen> {
    match (kind, listed) {
        (EntryKind::File, _) => None,
        (EntryKind::Folder, EntryKind::Link) => Some(Seen::LinkedFolder),
        (EntryKind::Folder, _) => Some(Seen::Unreadable("it is a folder".to_owned())),
        _ => Some(Seen::Unreadable("it is no regular file".to_owned())),
    }
}

pub(super) fn stays_inside(root: &Root, path: &str) -> Result<(), String> {
    let path = ProjectPath::new(path).map_err(|error| error.to_string())?;
    root.resolve(&path).map(|_| ()).map_err(|error| error.to_string())
}
