//! Commands for work in sessions.

pub(crate) mod checkpoint;
pub(crate) mod exec;
pub(crate) mod restore;
pub(crate) mod session;
