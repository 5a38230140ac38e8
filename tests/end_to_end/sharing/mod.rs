//! Commands that share the state with others.

mod instructions;
#[cfg(feature = "mcp")]
mod mcp;
mod shared_day;
mod sync;
mod sync_branches;
mod sync_credentials;
mod sync_interrupted;
mod sync_jira;
mod sync_tickets;
#[cfg(unix)]
mod sync_run;
