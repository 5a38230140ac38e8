//! Exchanging the names of two files in one step.

use std::{io, path::Path};

/// A reason why two names could not be exchanged. Nothing has changed then.
#[derive(Debug)]
pub(in crate::commit) enum ExchangeError {
    /// This system or this file system cannot exchange names.
    Unsupported,
    /// It can, but not these: for instance, one of them is gone.
    Failed(io::Error),
}

/// Gives each of two existing files the name of the other, atomically: what stood at `target` is afterwards at `staged`,
/// and nothing that was written to it in between is lost.
#[cfg(target_os = "linux")]
pub(in crate::commit) fn exchange(staged: &Path, target: &Path) -> Result<(), ExchangeError> {
    use rustix::{
        fs::{CWD, RenameFlags, renameat_with},
        io::Errno,
    };

    renameat_with(CWD, staged, CWD, target, RenameFlags::EXCHANGE).map_err(|error| match error {
        // EINVAL is the answer of file systems without this flag, ENOSYS of kernels, EPERM of some sandboxes. Where it
        // is the real answer, the plain rename that follows gives it again.
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM => ExchangeError::Unsupported,
        error => ExchangeError::Failed(error.into()),
    })
}

/// Other systems have no such call.
#[cfg(not(target_os = "linux"))]
pub(in crate::commit) fn exchange(_staged: &Path, _target: &Path) -> Result<(), ExchangeError> {
    Err(ExchangeError::Unsupported)
}
