//! Whether files that are not watched have changed.
#![expect(clippy::disallowed_methods, reason = "an edge: the file system is asked for sizes and times")]

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Size and time of files, none where a file is not there or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamps(Vec<Option<(u64, SystemTime)>>);

impl Stamps {
    /// Those of `files` now.
    pub(super) fn of(files: &[PathBuf]) -> Self {
        Self(files.iter().map(|file| stamp(file)).collect())
    }
}

fn stamp(file: &Path) -> Option<(u64, SystemTime)> {
    let metadata = fs::metadata(file).ok().filter(|metadata| metadata.len() > 0)?;
    Some((metadata.len(), metadata.modified().ok()?))
}
