//! Replacing a file of the cache.
#![expect(clippy::disallowed_methods, reason = "an edge module: cache files are written here")]

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
    process,
};

/// Replaces the file at `file` by `bytes`.
///
/// It is renamed into place but not flushed to the disk: whoever reads it recognises a torn one.
pub(crate) fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let staged = file.with_extension(format!("{}.tmp", process::id()));
    // What stands there is of a process that died, or a link that a repository brought.
    fs::remove_file(&staged).ok();
    let written = File::create_new(&staged)
        .and_then(|mut target| target.write_all(bytes))
        .and_then(|()| fs::rename(&staged, file));
    if written.is_err() {
        // What went wrong is told; that the remains could not be removed either adds nothing.
        fs::remove_file(&staged).ok();
    }
    written
}
