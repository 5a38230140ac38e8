//! The program from outside: the built `stepmark`, run in projects of its own with nothing of this machine's
//! environment.
#![expect(clippy::disallowed_methods, reason = "tests make, run and look at everything directly")]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../crates/sync/tests/github/fake/mod.rs"]
#[expect(dead_code, reason = "the tests of the worker use more of it")]
mod fake_github;
mod harness;
#[path = "../../crates/sync/tests/recording/mod.rs"]
mod recording;

mod autodev;
mod changing;
mod checking;
mod contract;
mod crashes;
mod files;
mod history;
mod memory;
mod output;
mod sessions;
mod setup;
mod sharing;
mod systems;
mod viewing;
