//! The state of agentic workflows as values, and what may be done with it. Pure: no file system, clock,
//! environment or database.
//!
//! The modules stand in the order of the flow; each uses only those above it.

pub use stepmark_packs as packs;
pub use stepmark_packs::spelling;
pub mod artifact;
pub mod workflow;
pub mod delegation;
pub mod lifecycle;
pub mod transition;
pub mod records;
pub mod asdd;
pub mod autodev;
pub mod coordination;
pub mod flows;
pub mod tracked_artifact;
pub mod journal;
pub mod bmad;
pub mod check;
pub mod lease;
pub mod projection;
pub mod resume;
pub mod selection;
pub mod summary;
