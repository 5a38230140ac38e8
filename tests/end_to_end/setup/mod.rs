//! Commands that set a project up and explain the program.

mod completions;
mod config;
mod init;
mod man;
