//! Following a project for as long as a process lives: what changed, and what the process is told.

mod signals;
mod look;
mod follow;

pub(crate) use follow::{Following, Seen, journal_folders};
pub(crate) use signals::{Signal, Signals};
