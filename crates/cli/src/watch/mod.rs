//! Following a project for as long as a process lives: what changed, and what the process is told.

mod look;

pub(crate) use look::{Following, Seen, Signal, Signals, journal_folders};
