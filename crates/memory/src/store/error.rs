//! The error of memory.

use stepmark_store::{disk::CacheUnavailable, history::HistoryError};

/// A reason why memory cannot be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The journal cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// SQLite fails.
    #[error("cannot read the memory of the project: SQLite says: {0}")]
    Database(#[from] rusqlite::Error),
    /// Its file cannot be made or written.
    #[error("cannot keep the memory of the project in the cache")]
    Unavailable(#[from] CacheUnavailable),
    /// No record has such an id.
    #[error("no memory has an id that begins with `{id}`")]
    Unknown {
        /// The beginning of the id.
        id: String,
    },
    /// Several records have such an id.
    #[error("several memories have ids that begin with `{id}`: write more of it")]
    Ambiguous {
        /// The beginning of the id.
        id: String,
    },
    /// Nothing in the graph has this name.
    #[error("memory knows nothing that is called `{name}`")]
    NoNode {
        /// The name.
        name: String,
    },
}
