//! The program from outside: the built `stepmark`, run in projects of its own with nothing of this machine's environment.
#![expect(clippy::disallowed_methods, reason = "tests make, run and look at everything directly")]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod harness;

mod arguments;
mod bad_input;
mod check;
mod colour;
mod complete;
mod completions;
mod init;
mod man;
mod next;
mod reopen;
mod set;
mod show;
mod status;
mod streams;
mod track;
