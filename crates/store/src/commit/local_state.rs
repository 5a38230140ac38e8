//! Small files of local state, replaced whole and listed by name; also leases, which all work trees share.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

use crate::commit::{CommitError, FsyncPolicy, LockError, file::flush_folder};
use crate::disk::{local_state::StateFolder, own_file, own_file::Access, root::Root};
use stepmark_model::artifact::ProjectPath;

/// Durable and atomic: the file has the old bytes or the new ones.
pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8], fsync: FsyncPolicy) -> io::Result<()> {
    let mut staged = tempfile::Builder::new().prefix(".").tempfile_in(folder)?;
    staged.write_all(bytes)?;
    if fsync == FsyncPolicy::Always {
        staged.as_file().sync_all()?;
    }
    staged.persist(folder.join(name)).map_err(|error| error.error)?;
    flush_folder(folder, fsync)
}

const LOCK: &str = "leases.lock";

/// The right to change leases; released when dropped.
#[derive(Debug)]
#[must_use = "the lock is released when it is dropped"]
pub(crate) struct LeaseFiles {
    _lock: File,
    root: Root,
    path: ProjectPath,
}

impl LeaseFiles {
    pub(crate) fn lock(root: &Root, path: &ProjectPath) -> Result<Self, CommitError> {
        let lock_file = root.state().top(true).join(LOCK);
        let open = || {
            root.state().make(StateFolder::Leases)?;
            own_file::open(&root.state().top(true), LOCK.as_ref(), Access::ChangeOrMake)
        };
        let lock = open().map_err(|source| LockError::Open { path: path.clone(), lock_file, source })?;
        // Held for one small file, so waiting without a limit means waiting for the disk.
        crate::disk::file_lock::exclusive(&lock)
            .map_err(|source| LockError::Unsupported { path: path.clone(), source })?;
        Ok(Self { _lock: lock, root: root.clone(), path: path.clone() })
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8], fsync: FsyncPolicy) -> Result<(), CommitError> {
        let write = || -> io::Result<()> {
            let folder = self.root.state().folder(StateFolder::Leases)?;
            replace(&folder, name, bytes, fsync)
        };
        write().map_err(|source| CommitError::Lease { path: self.path.clone(), source })
    }
}
