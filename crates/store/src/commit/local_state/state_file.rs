//! Small files of local state: replaced whole, and listed by name.
#![expect(clippy::disallowed_methods, reason = "an edge module: folders of local state are listed here")]

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use crate::commit::{FsyncPolicy, file::flush_folder};
use crate::disk::uninterrupted::uninterrupted;

/// Replaces the file `name` in `folder`, or makes it, durably: it holds the old bytes or the new ones.
///
/// # Errors
/// When it cannot be written; then it is as it was, unless only the flush of the folder failed.
pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8], fsync: FsyncPolicy) -> io::Result<()> {
    let mut staged = tempfile::Builder::new().prefix(".").tempfile_in(folder)?;
    staged.write_all(bytes)?;
    if fsync == FsyncPolicy::Always {
        staged.as_file().sync_all()?;
    }
    staged.persist(folder.join(name)).map_err(|error| error.error)?;
    flush_folder(folder, fsync)
}

/// The names in `folder` in their order; none where it is missing. Names that are not UTF-8 are not stepmark's.
///
/// # Errors
/// When it is there and cannot be listed.
pub(crate) fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match uninterrupted(|| fs::read_dir(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}
