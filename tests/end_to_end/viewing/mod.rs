//! Commands that show where the work stands.

#[cfg(unix)]
mod board;
mod context;
mod list;
pub(crate) mod log;
#[cfg(unix)]
mod memory_page;
mod next;
mod query;
mod replay;
#[cfg(unix)]
mod report;
mod resume;
#[cfg(unix)]
mod serve;
mod show;
mod status;
mod tickets;
mod tree;
