//! The secret of one clone, by which it knows what it wrote itself.
#![expect(clippy::disallowed_methods, reason = "an edge module: the key is a file, made here")]

use std::{
    fs::{self, File},
    io::{self, Write},
};

use crate::{
    document::FileHash,
    local_state::{LocalState, StateFolder},
    own_file::{self, Access},
};

/// The file of the key, beside the folders of the work tree.
const FILE: &str = "clone-key";

/// How many bytes of chance the key has.
const LENGTH: usize = 32;

/// A key that only this clone has.
#[derive(Clone, Debug)]
pub(super) struct CloneKey(FileHash);

impl CloneKey {
    /// Reads the key; `None` where there is none.
    pub(super) fn read(state: &LocalState) -> io::Result<Option<Self>> {
        state.folder(StateFolder::Redo)?;
        let file = match own_file::open(&state.top(false), FILE.as_ref(), Access::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut bytes = own_file::read_bounded(&file, LENGTH as u64)?;
        if bytes.len() != LENGTH {
            return Ok(None);
        }
        if !state.is_in_git() {
            bytes.extend(birth(&file)?);
        }
        Ok(Some(Self(FileHash::of(&bytes))))
    }

    /// Reads the key, and makes it where there is none.
    pub(super) fn read_or_make(state: &LocalState) -> io::Result<Self> {
        for _another_may_be_faster in 0..2 {
            if let Some(key) = Self::read(state)? {
                return Ok(key);
            }
            make(state)?;
        }
        Self::read(state)?.ok_or_else(|| io::Error::other("the key of this clone cannot be made"))
    }

    /// The signature of what has this hash.
    pub(super) fn sign(&self, hash: FileHash) -> FileHash {
        // The outer hash keeps the inner one from being continued.
        let inner = FileHash::of(&[&self.0.as_bytes()[..], hash.as_bytes()].concat());
        FileHash::of(&[&self.0.as_bytes()[..], inner.as_bytes()].concat())
    }
}

/// Makes the key under a name of its own, so that no process ever finds half of it.
fn make(state: &LocalState) -> io::Result<()> {
    state.make(StateFolder::Redo)?;
    let folder = state.top(false);
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let mut staged = tempfile::Builder::new().prefix(".clone-key-").tempfile_in(&folder)?;
    staged.write_all(&bytes)?;
    staged.as_file().sync_all()?;
    match staged.persist_noclobber(folder.join(FILE)) {
        Ok(_) => File::open(&folder)?.sync_all(),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            // One that is no key, which nothing can have been signed with.
            let is_whole = fs::metadata(folder.join(FILE)).is_ok_and(|found| found.len() == LENGTH as u64);
            if is_whole { Ok(()) } else { fs::remove_file(folder.join(FILE)) }
        }
        Err(error) => Err(error.error),
    }
}

/// What the file system alone says of a file, and what no archive brings along: without git the key stands among the files of the
/// project, and may have come with them.
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
