//! The locks that other programs hold while they write a file that follows records: `FILE.lock` beside it.
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

/// Waits for the locks of the files of `format`, so that none is read half written, and none is replaced
/// between the reading and the writing of another program. A lock file that is not there is not made: whoever
/// takes these locks makes it, and it would stand in the project.
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
        // One that cannot be opened, or that the file system does not lock, keeps nobody out.
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
