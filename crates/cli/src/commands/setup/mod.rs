//! Commands that set a project up and explain the program.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod help;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod schema;
