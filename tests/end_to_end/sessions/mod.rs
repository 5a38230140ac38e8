//! Commands for work in sessions.

mod active_artifact;
mod checkpoint;
mod exec;
mod session;
