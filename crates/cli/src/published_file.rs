//! A whole file for people, put where they want it: there is the old one or the new one, never a part of one.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge: the file may stand outside of every project, where stepmark-core writes nothing"
)]

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use tempfile::Builder;

/// Why a file was not written. What stood there stands there still.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublishFileError {
    /// The path names no file.
    #[error("cannot write `{}`: it names no file", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Puts `bytes` at `path`, durably, in the place of what is there. Its folder must exist; a link is followed.
pub(crate) fn publish(path: &Path, bytes: &[u8]) -> Result<(), PublishFileError> {
    let failed = |source| PublishFileError::Write { path: path.to_owned(), source };
    // The file behind a link is replaced, not the link. One that leads nowhere is a place like any other.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let no_file = || PublishFileError::NoFile { path: path.to_owned() };
    if place.is_dir() {
        return Err(no_file());
    }
    let (Some(folder), Some(_)) = (place.parent(), place.file_name()) else { return Err(no_file()) };
    let mut builder = Builder::new();
    builder.prefix(".stepmark-");
    // As any program would make it: the umask decides.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut staged = builder.tempfile_in(folder).map_err(failed)?;
    staged.write_all(bytes).map_err(failed)?;
    staged.as_file().sync_all().map_err(failed)?;
    staged.persist(&place).map_err(|error| failed(error.error))?;
    #[cfg(unix)]
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
    Ok(())
}
