//! Locks of other programs while writing a file in their format: `FILE.lock` beside it.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: lock files of other programs are opened here"
)]

use std::{
    fs::{self, File, TryLockError},
    time::Duration,
};

use super::pack_files::RecordFormat;
use crate::{Error, commit::CommitOptions, disk::Root, disk::file_lock::exclusive_within};

const PATIENCE: Duration = Duration::from_secs(2);

/// Waits for other programs' locks, so that no file is read half written, or replaced between their read and
/// write. A missing lock file is not created: programs that use one create it, and it would stay in the
/// project.
pub(super) fn lock<F: RecordFormat>(
    root: &Root,
    options: &CommitOptions,
    format: &F,
) -> Result<Vec<File>, Error> {
    let mut held = Vec::new();
    for path in format.locks() {
        let place = root.path().join(path.as_str());
        if !fs::symlink_metadata(&place).is_ok_and(|found| found.is_file()) {
            continue;
        }
        // If it cannot be opened or locked, it excludes nobody.
        let Ok(file) = File::open(&place) else { continue };
        match exclusive_within(&file, options.lock_timeout.min(PATIENCE)) {
            Err(TryLockError::WouldBlock) => {
                return Err(Error::refused(format!(
                    "another program holds `{path}` all the time: end it, then `stepmark coordination project`"
                )));
            }
            Ok(()) | Err(TryLockError::Error(_)) => held.push(file),
        }
    }
    Ok(held)
}
