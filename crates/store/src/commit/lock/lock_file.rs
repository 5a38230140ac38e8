//! The sidecar file that stands for a lock.
#![expect(clippy::disallowed_methods, reason = "an edge module: lock files are made here")]

use std::{
    fmt,
    fs::{self, File},
    io,
    path::Path,
};

use crate::disk::{local_state::StateFolder, own_file, own_file::Access, root::Root};
use stepmark_model::artifact::{FileHash, ProjectPath};

use crate::commit::LockError;

/// Names the lock of one file: the first 128 bits of the SHA-256 of its resolved path seen from the root, in
/// lower-case hexadecimal. The resolved path, because two links to one file must share its lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commit) struct LockKey(String);

impl LockKey {
    pub(in crate::commit) fn of(place: &Path) -> Self {
        let mut digits = FileHash::of(place.as_os_str().as_encoded_bytes()).to_string();
        digits.truncate(32);
        Self(digits)
    }

    pub(in crate::commit) fn of_temporary_file(name: &str) -> Option<Self> {
        let (digits, _) = name.strip_prefix(".stepmark-")?.split_once('-')?;
        let is_key = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Self(digits.to_owned())).filter(|key| is_key && key.names_temporary_file(name))
    }

    pub(in crate::commit) fn temporary_prefix(&self) -> String {
        format!(".stepmark-{self}-")
    }

    /// A name for a temporary file that holds, or held, bytes of this hash.
    pub(in crate::commit) fn temporary_name(&self, content: FileHash) -> String {
        let digits = content.to_string();
        format!(
            "{}{}{}",
            self.temporary_prefix(),
            digits.get(..12).unwrap_or(&digits),
            Self::TEMPORARY_SUFFIX
        )
    }

    pub(in crate::commit) const TEMPORARY_SUFFIX: &'static str = ".tmp";

    pub(in crate::commit) fn names_temporary_file(&self, name: &str) -> bool {
        name.strip_prefix(&self.temporary_prefix())
            .and_then(|rest| rest.strip_suffix(Self::TEMPORARY_SUFFIX))
            .is_some_and(|random| {
                !random.is_empty() && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
            })
    }
}

impl fmt::Display for LockKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Opens the lock file of the artifact, and makes it and its folder where they do not exist yet: locking
/// works in a project without `init`. Lock files stay, as removing one races with whoever waits for it.
pub(in crate::commit) fn open_lock_file(
    root: &Root,
    path: &ProjectPath,
    key: &LockKey,
) -> Result<File, LockError> {
    let name = format!("{key}.lock");
    let open = || {
        let folder = root.state().folder(StateFolder::Locks)?;
        own_file::open(&folder, name.as_ref(), Access::ChangeOrMake)
    };
    let opened = match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // The first write of this work tree.
            root.state().make(StateFolder::Locks).map_err(io::Error::from).and_then(|_| open())
        }
        done => done,
    };
    opened.map_err(|source| {
        let lock_file = root.state().path(StateFolder::Locks).join(&name);
        LockError::Open { path: path.clone(), lock_file, source }
    })
}

/// Returns whether anybody has ever locked the file at `place`: a file that nobody locked is not being
/// written by stepmark.
pub(in crate::commit) fn is_ever_locked(root: &Root, place: &Path) -> bool {
    let key = LockKey::of(place.strip_prefix(root.path()).unwrap_or(place));
    let lock_file = root.state().path(StateFolder::Locks).join(format!("{key}.lock"));
    // What cannot be looked at may be there.
    fs::symlink_metadata(lock_file).map_or_else(not_absent, |_| true)
}

fn not_absent(error: io::Error) -> bool {
    error.kind() != io::ErrorKind::NotFound
}
