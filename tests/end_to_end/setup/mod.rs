//! Commands that set a project up and explain the program.

mod config;
mod init;
mod reference;
