//! The store that is there without anything else: SQLite with full-text search and a graph, in the cache.

mod filling;
mod memory;
mod neighbours;
mod recalling;
pub(crate) mod reading;

pub use memory::{Counts, Memory};
pub use neighbours::Neighbourhood;

use jiff::Timestamp;
use serde::Serialize;
use stepmark_store::{disk::CacheUnavailable, history::HistoryError};

use crate::{MemoryKind, MemoryRecord, ranking::Score};

#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Words; empty for what matters most.
    pub text: String,
    /// Only records of these kinds; all where there is none.
    pub kinds: Vec<MemoryKind>,
    /// The artifact that is worked on, by its path or its identity: what hangs on it comes first.
    pub artifact: Option<String>,
    pub session: Option<String>,
    pub since: Option<Timestamp>,
    /// Also what is superseded or has ended.
    pub all: bool,
    /// The most records; 10 where it is 0.
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recalled {
    #[serde(flatten)]
    pub record: MemoryRecord,
    /// The records that took its place; none where it holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub superseded_by: Vec<String>,
    pub score: Score,
}

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

#[cfg(test)]
pub(crate) mod cases;
