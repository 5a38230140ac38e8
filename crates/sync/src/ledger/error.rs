//! Why the ledger cannot be used.

use std::path::PathBuf;

use super::Fenced;
use crate::ticket::Marker;

/// Why the ledger did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The store failed.
    #[error("the ledger of sync could not {intent}")]
    Storage {
        /// What was to be done.
        intent: &'static str,
        /// What the store says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another process kept the ledger for too long.
    #[error("the ledger of sync is busy: another process holds it; try again when that has ended")]
    Busy,
    /// What is kept cannot be read.
    #[error(
        "the ledger of sync holds a {what} that cannot be read: {reason}; it can be deleted, since tickets are found again by \
         their markers (`stepmark sync adopt`)"
    )]
    Corrupt {
        /// What it should be.
        what: &'static str,
        /// Why it is none.
        reason: String,
    },
    /// A newer stepmark wrote it.
    #[error("`{}` was written by a newer stepmark (its tables have version {found}, this one knows {known}): update stepmark", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its tables.
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// A ticket belongs to one artifact.
    #[error("{key} is the ticket of another artifact")]
    LinkedElsewhere {
        /// What people call the ticket.
        key: String,
        /// The artifact.
        marker: Marker,
        /// The artifact that has it.
        owner: Marker,
    },
    /// Somebody else works on it now.
    #[error(transparent)]
    Fenced(#[from] Fenced),
}
