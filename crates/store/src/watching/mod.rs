//! Watching a project for changes.

mod artifact_watch;
mod project_watch;
mod watched_paths;

pub use artifact_watch::ArtifactWatch;
pub use project_watch::{ProjectWatch, WatchChoice, WatchEvent, WatchTrouble};
