//! An MCP server over stdio: serves tool sets in the revisions 2025-11-25 and 2026-07-28.
//!
//! ```text
//! line → message → server → tool set → answer or refusal → line
//! ```
//!
//! Requests are answered one by one: answers keep their order, nothing queues, and at the end of input all is
//! answered. Between calls only the revision chosen by the client is kept.

mod schema;
mod tool;
mod tool_set;
mod server;
mod stdio;

pub use schema::{Presence, Schema};
pub use server::Server;
pub use stdio::{LONGEST_LINE, ServeError, serve};
pub use tool::{Effect, Tool};
pub use tool_set::{Answer, Arguments, Refusal, ToolSet, read};
