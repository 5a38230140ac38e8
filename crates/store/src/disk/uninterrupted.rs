//! System calls that a signal may interrupt.
#![expect(clippy::disallowed_methods, reason = "an edge module: folders are listed here")]

use std::{fs, io, path::Path};

/// Makes a system call again for as long as a signal interrupts it (`EINTR`). The standard library does so by
/// itself for opening, reading, writing, flushing and cutting a file, but not for locks and folders.
pub(crate) fn uninterrupted<T>(call: impl Fn() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => return answer,
        }
    }
}

/// The names in `folder` in their order; none where it is missing. Names that are not UTF-8 are not
/// stepmark's.
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

/// The same; a file in the place of the folder, or of one above it, holds none.
pub(crate) fn names_in_place(folder: &Path) -> io::Result<Vec<String>> {
    match names_in(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(Vec::new()),
        names => names,
    }
}
