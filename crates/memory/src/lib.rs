//! Memory of a project: what was decided and learned, from the events of its journal (docs/memory.md).
//!
//! # Flow
//! events → records, nodes and edges ([`rows`]) → a store → what is recalled, with its source. Other stores
//! are given the same as units ([`mod@target`]), by deliveries that survive what fails ([`mod@delivery`]).
//!
//! # Guarantees
//! * A store holds nothing that the journal does not: deleted, it is made again with the same rows, in
//!   whatever order the events come.
//! * Text of memory is data. Secrets are refused before anything is written, and text that enters a context
//!   is one line, bounded, without control characters, and marked ([`mod@context`]).

pub mod kind;
pub mod record;
pub mod draft;
pub mod lines;
pub mod graph;
pub mod rows;
pub mod summary;
pub mod ranking;
pub mod context;
pub mod store;
pub mod audit;
pub mod target;
pub mod delivery;

pub use context::context;
pub use draft::{Draft, supersession};
pub use graph::{Edge, EdgeKind, Node, NodeKind};
pub use kind::{MemoryKind, MemoryType, Tier};
pub use lines::told_lines;
pub use record::{Decision, MemoryRecord, Source};
pub use rows::{Rows, rows_of};
pub use store::{Memory, MemoryError, Query, Recalled};
