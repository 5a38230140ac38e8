//! Following a project for as long as a process lives: what changed, and what the process is told.

mod signals;
mod watched_paths;
mod project_watch;
mod look;
mod follow;

pub(crate) use follow::{Following, Seen};
pub(crate) use project_watch::{ProjectWatch, WatchChoice, WatchTrouble};
pub(crate) use signals::{Signal, Signals};
