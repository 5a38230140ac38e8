//! Commands that show where the work stands.

pub(crate) mod board;
pub(crate) mod context;
pub(crate) mod journal;
pub(crate) mod list;
pub(crate) mod next;
pub(crate) mod query;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod tickets;
pub(crate) mod tree;
