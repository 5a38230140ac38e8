//! Following a project for as long as a process lives: what changed, and what the process is told.

mod look;
mod follow;

pub(crate) use follow::{Following, Seen, journal_folders};
pub(crate) use follow::{Signal, Signals};
