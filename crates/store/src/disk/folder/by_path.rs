//! A folder by its path: for systems without descriptors of folders.
#![expect(clippy::disallowed_methods, reason = "an edge module: folders are listed and files opened here")]

use std::{
    ffi::OsStr,
    fs::{self, File, FileType},
    io,
    path::{Path, PathBuf},
};

use crate::disk::{
    file_lock::uninterrupted,
    folder::{EntryKind, FileStat},
};

#[derive(Debug)]
pub(super) struct Handle(PathBuf);

impl Handle {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        Ok(Self(folder.to_owned()))
    }

    pub(super) fn list(&self, mut take: impl FnMut(&OsStr, EntryKind)) -> io::Result<()> {
        for entry in uninterrupted(|| fs::read_dir(&self.0))? {
            let entry = entry?;
            take(&entry.file_name(), entry_kind(entry.file_type()?));
        }
        Ok(())
    }

    pub(super) fn stat(&self, name: &str, follow_link: bool) -> io::Result<(EntryKind, FileStat)> {
        let path = self.0.join(name);
        let metadata = if follow_link { fs::metadata(path)? } else { fs::symlink_metadata(path)? };
        Ok((entry_kind(metadata.file_type()), FileStat::of(&metadata)))
    }

    pub(super) fn open_with_stat(&self, name: &str) -> io::Result<(File, EntryKind, FileStat)> {
        let (kind, stat) = self.stat(name, false)?;
        Ok((self.open_file(name)?, kind, stat))
    }

    pub(super) fn open_file(&self, name: &str) -> io::Result<File> {
        File::open(self.0.join(name))
    }
}

fn entry_kind(kind: FileType) -> EntryKind {
    if kind.is_file() {
        EntryKind::File
    } else if kind.is_dir() {
        EntryKind::Folder
    } else if kind.is_symlink() {
        EntryKind::Link
    } else {
        EntryKind::Other
    }
}
