//! Everything below a folder, to compare before and after.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::Run;

/// Of a file with more bytes than this only size, time and inode are compared.
const HUGE: u64 = 16 * 1024 * 1024;

/// All files, folders and links below a folder, with what would show that they were touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tree(BTreeMap<PathBuf, Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Folder {
        permissions: fs::Permissions,
    },
    File {
        /// Nothing where this user may not look, and of a file that is huge.
        bytes: Option<Vec<u8>>,
        size: u64,
        permissions: fs::Permissions,
        modified: SystemTime,
        inode: u64,
    },
    Link {
        target: PathBuf,
    },
    /// A pipe or a device; reading it would wait.
    Other,
}

impl Tree {
    /// Reads what is below `folder`.
    pub(crate) fn of(folder: &Path) -> Self {
        let mut tree = Self(BTreeMap::new());
        tree.add(folder, Path::new(""));
        tree
    }

    fn add(&mut self, folder: &Path, name: &Path) {
        // A folder that this user may not look into stands there by its name alone.
        for entry in fs::read_dir(folder.join(name)).into_iter().flatten() {
            let path = name.join(entry.unwrap().file_name());
            let entry = Entry::of(&folder.join(&path));
            let is_folder = matches!(entry, Entry::Folder { .. });
            self.0.insert(path.clone(), entry);
            if is_folder {
                self.add(folder, &path);
            }
        }
    }

    /// Fails with the names of what differs, and with the run that made the difference.
    pub(crate) fn assert_same(&self, after: &Self, run: &Run) {
        let names: BTreeSet<&PathBuf> = self.0.keys().chain(after.0.keys()).collect();
        let differing: Vec<_> =
            names.into_iter().filter(|name| self.0.get(*name) != after.0.get(*name)).collect();
        assert!(differing.is_empty(), "these were changed: {differing:?} by\n{run}");
    }

    /// The names of all files whose name starts with `prefix`.
    pub(crate) fn files_named(&self, prefix: &str) -> Vec<PathBuf> {
        let starts =
            |path: &&PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
        self.0.keys().filter(starts).cloned().collect()
    }
}

impl Entry {
    fn of(place: &Path) -> Self {
        let metadata = fs::symlink_metadata(place).unwrap();
        let permissions = metadata.permissions();
        if metadata.is_dir() {
            Self::Folder { permissions }
        } else if metadata.is_symlink() {
            Self::Link { target: fs::read_link(place).unwrap() }
        } else if metadata.is_file() {
            let size = metadata.len();
            let bytes = if size > HUGE { None } else { fs::read(place).ok() };
            Self::File {
                bytes,
                size,
                permissions,
                modified: metadata.modified().unwrap(),
                inode: inode(&metadata),
            }
        } else {
            Self::Other
        }
    }
}

#[cfg(unix)]
fn inode(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_metadata: &fs::Metadata) -> u64 {
    0
}
