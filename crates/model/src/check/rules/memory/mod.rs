//! Memories of a project, and the stores that are given them.

pub mod secret_in_memory;
pub mod store_behind;
pub mod superseded_by_missing;
