//! Reasons why a measurement could not be made.

use std::{io, path::Path};

/// A reason why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The file system refuses.
    #[error("cannot {intent} `{path}`: {source}")]
    File { intent: &'static str, path: String, source: io::Error },
    /// A process could not be started, or ended with another exit code than wanted.
    #[error("`{command}` failed: {reason}")]
    Process { command: String, reason: String },
    /// A program gave another answer than the others: then its time means nothing.
    #[error("{who} read {found}, but {other} read {wanted}: the times cannot be compared")]
    Disagreement { who: String, found: String, other: String, wanted: String },
    /// stepmark refuses the work.
    #[error("{0}")]
    Library(String),
    /// The arguments or the project make no sense.
    #[error("{0}")]
    Usage(String),
}

impl Failure {
    /// Adds intent and path to what the system says.
    pub(crate) fn file(intent: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { intent, path: path.display().to_string(), source }
    }

    /// The error of the library, with its causes.
    pub(crate) fn library(error: impl std::error::Error) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        Self::Library(text)
    }
}
