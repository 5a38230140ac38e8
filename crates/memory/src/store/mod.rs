//! The store that is there without anything else: SQLite with full-text search and a graph, in the cache.

#[cfg(test)]
pub(crate) mod cases;
mod error;
mod filling;
mod layout;
mod memory;
mod neighbours;
mod query;
mod recalling;
pub(crate) mod reading;

pub use error::MemoryError;
pub use memory::{Counts, Memory};
pub use neighbours::Neighbourhood;
pub use query::{Query, Recalled};
