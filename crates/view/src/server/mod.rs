//! The live page: HTTP on this machine only, read-only.
//!
//! ```text
//! change → Observation → Shown (pages and pieces drawn once, revision n) ─┬→ GET /            the whole page
//!                                                                         ├→ GET /events      "revision n" to everyone who listens
//!                                                                         └→ GET /update?from=m  the pieces that differ between m and n
//! ```
//!
//! **Guarantees.** Every listener learns the latest revision, and gets every difference however many
//! revisions it missed. Slow listeners cost nothing: there is one latest revision, not a queue. Idle and
//! stalled connections end; few pages are drawn at a time. Only `GET` and `HEAD` for this host are answered.
//! **Assumptions.** The sockets are on the loopback interface; who can reach them may read the project.
//! **Errors.** If the project cannot be read, its last state stays, and every page says since when and why.

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
