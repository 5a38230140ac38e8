//! The command line and the output, the same for all commands, and the README that shows them.

pub(crate) mod arguments;
mod colour;
mod invisible;
mod json;
mod readme;
mod streams;
#[cfg(unix)]
mod wide_lines;
