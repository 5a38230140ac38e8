//! What the process was started with: read once, passed on as values.
#![expect(clippy::disallowed_methods, reason = "the edge of the program: folder and random ids enter here")]

use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failure};

/// The process's surroundings.
pub(crate) struct Environment {
    /// The folder that relative paths of the command line are seen from.
    pub(crate) current_folder: PathBuf,
}

impl Environment {
    pub(crate) fn read() -> Result<Self, Failure> {
        let current_folder = std::env::current_dir()
            .map_err(|error| Failure::new(Exit::Io, format!("cannot find the current folder: {error}")))?;
        Ok(Self { current_folder })
    }

    /// Whether a folder stands at a path of the command line.
    pub(crate) fn is_folder(path: &Path) -> bool {
        path.is_dir()
    }
}

/// A new random id (RFC 9562, version 4). `STEPMARK_TEST_ID` fixes it, so that tests can compare whole files.
pub(crate) fn new_id() -> String {
    std::env::var("STEPMARK_TEST_ID").unwrap_or_else(|_| uuid::Uuid::new_v4().to_string())
}
