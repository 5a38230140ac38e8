//! Follows a project: changes and signals.

mod look;

pub(crate) use look::{Following, Seen, Signal, Signals, journal_folders};
