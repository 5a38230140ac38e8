//! State of agentic workflows as values, and the decisions about it. Pure: no file system, clock, environment
//! or database.
//!
//! Modules are in dependency order; each uses only those above it.

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
