//! Writing leases, which all work trees of a repository share.

use std::{fs::File, io};

use crate::commit::{CommitError, FsyncPolicy, LockError, local_state::state_file};
use crate::disk::{local_state::StateFolder, own_file, own_file::Access, root::Root};
use stepmark_model::artifact::ProjectPath;

/// The file whose lock is the right to change leases, beside their folder.
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
    /// Waits for the right, to change the lease of the artifact at `path`.
    ///
    /// # Errors
    /// When the folder of the leases cannot be made, or the file system has no locks.
    pub(crate) fn lock(root: &Root, path: &ProjectPath) -> Result<Self, CommitError> {
        let lock_file = root.state().top(true).join(LOCK);
        let open = || {
            root.state().make(StateFolder::Leases)?;
            own_file::open(&root.state().top(true), LOCK.as_ref(), Access::ChangeOrMake)
        };
        let lock = open().map_err(|source| LockError::Open { path: path.clone(), lock_file, source })?;
        // Held for one small file: to wait without a limit is to wait for the disk.
        crate::disk::file_lock::exclusive(&lock)
            .map_err(|source| LockError::Unsupported { path: path.clone(), source })?;
        Ok(Self { _lock: lock, root: root.clone(), path: path.clone() })
    }

    /// Replaces the lease in the file `name`, durably.
    ///
    /// # Errors
    /// When it cannot be written; then the lease is as it was.
    pub(crate) fn write(&self, name: &str, bytes: &[u8], fsync: FsyncPolicy) -> Result<(), CommitError> {
        let write = || -> io::Result<()> {
            let folder = self.root.state().folder(StateFolder::Leases)?;
            state_file::replace(&folder, name, bytes, fsync)
        };
        write().map_err(|source| CommitError::Lease { path: self.path.clone(), source })
    }
}
