//! What all tests use: a project of their own, runs of the program in it, and a look at everything that is on
//! the disk.

#[cfg(unix)]
mod background;
mod changed_lines;
pub(crate) mod demo;
mod repository;
mod run;
mod sandbox;
pub(crate) mod segment;
pub(crate) mod sprint;
pub(crate) mod terminal;
mod tool;
mod tree;
mod typed;

#[cfg(unix)]
pub(crate) use background::Background;
pub(crate) use changed_lines::changed_lines;
pub(crate) use repository::Repository;
pub(crate) use run::Run;
pub(crate) use sandbox::{Sandbox, TEST_ID};
pub(crate) use tool::{skip, tool};
pub(crate) use tree::Tree;
pub(crate) use typed::Typed;
