//! The live page: pages, fragments and changes over HTTP, on this machine only, read-only.
//!
//! ```text
//! change → Observation → Shown (pages and pieces drawn once, revision n) ─┬→ GET /            the whole page
//!                                                                         ├→ GET /events      "revision n" to everyone who listens
//!                                                                         └→ GET /update?from=m  the pieces that differ between m and n
//! ```
//!
//! **Guarantees.** Whoever listens hears of the latest revision, and comes by every difference however many
//! revisions it missed. What a slow listener does not take costs nothing: there is one latest revision, not a
//! queue. A connection that asks nothing, or does not take its answer, ends by itself; few pages are drawn at
//! a time. Only `GET` and `HEAD` for this host are answered. **Assumptions.** The sockets are those of the
//! loopback interface; who can reach them may read the project. **Errors.** A project that cannot be looked
//! at stays as it was last seen, and every page says since when and why.

mod shown;
mod answers;
mod connections;
mod serve;
#[cfg(test)]
mod cases;

pub use crate::page::Stale;
pub use answers::Served;
pub use connections::{BoundedListener, CONNECTIONS};
pub use serve::serve;
pub use shown::{Shown, Shows};
