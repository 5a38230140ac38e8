//! Artifacts → the bytes of every local copy. Pure and rebuildable.

mod facts;
pub mod files_manifest;
pub mod instructions;
pub mod pack_file;
pub mod instruction_meta;
pub mod checkpoint;
pub mod gates;
pub mod git_hook;

pub use facts::{FileState, Freshness, ProjectionFacts, Source};
