//! The error of memory.

use stepmark_store::{disk::CacheUnavailable, history::HistoryError};

#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error("cannot read the memory of the project: SQLite says: {0}")]
    Database(#[from] rusqlite::Error),
    #[error("cannot keep the memory of the project in the cache")]
    Unavailable(#[from] CacheUnavailable),
    #[error("no memory has an id that begins with `{id}`")]
    Unknown { id: String },
    #[error("several memories have ids that begin with `{id}`: write more of it")]
    Ambiguous { id: String },
    #[error("memory knows nothing that is called `{name}`")]
    NoNode { name: String },
}
