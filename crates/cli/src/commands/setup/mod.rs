//! Commands that set a project up and explain the program.

pub(crate) mod config;
pub(crate) mod reference;
