//! Artifacts → the bytes of every local copy. Pure and rebuildable.

pub mod files_manifest;
