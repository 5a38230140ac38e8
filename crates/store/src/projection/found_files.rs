//! Existing and expected files of a format.
#![expect(clippy::disallowed_methods, reason = "an edge module: the stats of the files are taken here")]

use super::publish::foreign;
use std::{collections::BTreeMap, fs};

use super::pack_files::Files;
use crate::{
    Error,
    commit::read_whole,
    disk::{
        Root,
        file_reading::{FileStat, KnownStat, now},
    },
};
use stepmark_model::artifact::{FileHash, ProjectPath};

#[derive(Debug)]
pub(crate) struct HashedBytes {
    pub(super) bytes: Vec<u8>,
    pub(super) hash: FileHash,
}

impl From<Vec<u8>> for HashedBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self { hash: FileHash::of(&bytes), bytes }
    }
}

pub(super) type HashedFiles = BTreeMap<ProjectPath, HashedBytes>;

pub(super) fn hashed(files: Files) -> HashedFiles {
    files.into_iter().map(|(path, bytes)| (path, bytes.into())).collect()
}

pub(super) fn hashes(files: &HashedFiles) -> BTreeMap<ProjectPath, FileHash> {
    files.iter().map(|(path, file)| (path.clone(), file.hash)).collect()
}

#[derive(Debug, Default)]
pub(crate) struct FoundFiles(BTreeMap<ProjectPath, (KnownStat, HashedBytes)>);

impl FoundFiles {
    /// Skips missing files, and those certainly unchanged.
    pub(super) fn read(&mut self, root: &Root, paths: Vec<ProjectPath>) -> Result<(), Error> {
        let mut before = std::mem::take(&mut self.0);
        for path in paths {
            let found = fs::symlink_metadata(root.path().join(path.as_str())).ok();
            if found.as_ref().is_some_and(fs::Metadata::is_symlink) {
                return Err(foreign(&path));
            }
            let stat = found.map_or(FileStat::NONE, |found| FileStat::of(&found));
            let began = now();
            let known = match before.remove(&path).filter(|(known, _)| known.proves(&stat)) {
                Some(known) => Some(known),
                None => read_whole(root, &path)
                    .map_err(|error| Error::from(error).in_system())?
                    .map(|bytes| (stat.known_since(began), bytes.into())),
            };
            self.0.extend(known.map(|known| (path, known)));
        }
        Ok(())
    }

    pub(super) fn get(&self, path: &ProjectPath) -> Option<&HashedBytes> {
        self.0.get(path).map(|(_, bytes)| bytes)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&ProjectPath, &HashedBytes)> {
        self.0.iter().map(|(path, (_, bytes))| (path, bytes))
    }
}
