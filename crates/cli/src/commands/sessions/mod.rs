//! Commands for work in sessions.

pub(crate) mod checkpoint;
pub(crate) mod session;
