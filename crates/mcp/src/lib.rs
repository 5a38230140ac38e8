//! A server of the Model Context Protocol: it takes sets of tools, and answers on standard input and output
//! in the revisions 2025-11-25 and 2026-07-28.
//!
//! ```text
//! line → message → server → tool set → answer or refusal → line
//! ```
//!
//! One request is answered before the next one is read. So answers come in the order of the questions,
//! nothing piles up, and the end of the input ends the server when everything is answered. Between two calls
//! nothing is kept but the revision that the client has chosen.

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
