//! Watching a project for changes.

mod project_watch;
mod watched_paths;

pub use project_watch::{ProjectWatch, WatchChoice, WatchEvent, WatchTrouble};
pub use watched_paths::ArtifactWatch;
