//! The error of this crate.

use jiff::Timestamp;

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub kind: ErrorKind,
    pub message: String,
    pub help: Option<String>,
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Gives the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    Refused,
    Usage,
    Io,
    Remote,
    // No credential was found, or no program.
    Missing,
    // A program ran out of time.
    Late,
    Corrupt,
    // Another process writes to the ledger.
    Busy,
    // Another process has the lease.
    Held { holder: String, until: Timestamp },
    // The lease of this process is no longer valid.
    Fenced,
    LinkedElsewhere { key: String, owner: String },
    // A person has to allow first that the credential of this name is sent there.
    NotAllowed { credential: String },
}

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), help: None, source: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
