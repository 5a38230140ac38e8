//! The secret of one clone, by which it knows what it wrote itself.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests copy the key"))]

use std::{
    fs::File,
    io::{self, Write},
};

use crate::commit::{FsyncPolicy, file::flush_folder};
use crate::disk::{local_state::LocalState, local_state::StateFolder, own_file, own_file::Access};
use stepmark_model::artifact::FileHash;

const FILE: &str = "clone-key";

/// The number of random bytes in the key.
const LENGTH: usize = 32;

/// A key that only this clone has.
#[derive(Clone, Debug)]
pub(in crate::commit) struct CloneKey(FileHash);

impl CloneKey {
    /// Reads the key; `None` where there is none.
    pub(in crate::commit) fn read(state: &LocalState) -> io::Result<Option<Self>> {
        state.folder(StateFolder::Redo)?;
        let file = match own_file::open(&state.top(false), FILE.as_ref(), Access::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        if file.metadata()?.len() != LENGTH as u64 {
            return Ok(None);
        }
        let mut bytes = own_file::read_bounded(&file, LENGTH as u64)?;
        if !state.is_in_git() {
            bytes.extend(birth(&file)?);
        }
        Ok(Some(Self(FileHash::of(&bytes))))
    }

    pub(in crate::commit) fn read_or_make(state: &LocalState) -> io::Result<Self> {
        for _another_may_be_faster in 0..2 {
            if let Some(key) = Self::read(state)? {
                return Ok(key);
            }
            make(state)?;
        }
        Self::read(state)?.ok_or_else(|| io::Error::other("the key of this clone cannot be made"))
    }

    pub(in crate::commit) fn sign(&self, hash: FileHash) -> FileHash {
        // The outer hash keeps the inner one from being continued.
        let inner = FileHash::of(&[&self.0.as_bytes()[..], hash.as_bytes()].concat());
        FileHash::of(&[&self.0.as_bytes()[..], inner.as_bytes()].concat())
    }
}

/// Makes the key under the lock of its file, so that all processes agree on one. What has another length was
/// not written to its end, and nothing can have been signed with it.
fn make(state: &LocalState) -> io::Result<()> {
    state.make(StateFolder::Redo)?;
    let folder = state.top(false);
    let mut file = own_file::open(&folder, FILE.as_ref(), Access::ChangeOrMake)?;
    crate::disk::file_lock::exclusive(&file)?;
    if file.metadata()?.len() == LENGTH as u64 {
        return Ok(());
    }
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    file.set_len(0)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    flush_folder(&folder, FsyncPolicy::Always)
}

/// The facts of a file that the file system alone gives, and that no archive brings along: without git the
/// key stands among the files of the project, and may have come with them.
#[cfg(unix)]
fn birth(file: &File) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::MetadataExt;
    let found = file.metadata()?;
    Ok([found.ino().to_le_bytes(), found.ctime().to_le_bytes(), found.ctime_nsec().to_le_bytes()].concat())
}

/// Other systems do not say it.
#[cfg(not(unix))]
fn birth(_file: &File) -> io::Result<Vec<u8>> {
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::commit::scratch_project::ScratchProject;

    #[test]
    fn the_key_stays_and_belongs_to_one_clone() {
        let (one, other) = (ScratchProject::new(), ScratchProject::new());
        let hash = FileHash::of(b"x");
        assert!(CloneKey::read(one.root.state()).unwrap().is_none());
        let signature = CloneKey::read_or_make(one.root.state()).unwrap().sign(hash);
        assert_eq!(CloneKey::read(one.root.state()).unwrap().unwrap().sign(hash), signature);
        assert_ne!(CloneKey::read_or_make(other.root.state()).unwrap().sign(hash), signature);
        assert_eq!(one.names(".stepmark/local"), [".gitignore", "clone-key", "redo"]);
    }

    #[test]
    fn what_is_no_key_is_replaced_by_one() {
        let project = ScratchProject::new();
        for bytes in [&b"short"[..], &[0; 40]] {
            project.root.state().make(StateFolder::Redo).unwrap();
            fs::write(project.place(".stepmark/local/clone-key"), bytes).unwrap();
            assert!(CloneKey::read(project.root.state()).unwrap().is_none());
            CloneKey::read_or_make(project.root.state()).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_copied_key_signs_for_nobody() {
        let (one, other) = (ScratchProject::new(), ScratchProject::new());
        let hash = FileHash::of(b"x");
        let signature = CloneKey::read_or_make(one.root.state()).unwrap().sign(hash);
        other.root.state().make(StateFolder::Redo).unwrap();
        fs::copy(one.place(".stepmark/local/clone-key"), other.place(".stepmark/local/clone-key")).unwrap();
        assert_ne!(CloneKey::read(other.root.state()).unwrap().unwrap().sign(hash), signature);
    }
}
