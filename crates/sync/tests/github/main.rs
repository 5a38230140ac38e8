//! The tracker of GitHub against a server of our own that does things wrong.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../demo/mod.rs"]
mod demo;
#[path = "../recording/mod.rs"]
mod recording;
mod emulator;
mod child;
mod flat_project;
mod killed;
mod clones;
mod age;
mod chaos;
mod fake;
mod project;
mod rest;
mod texts;
mod worker;
mod faults;
mod fields;
mod figures;
mod graphql;
mod ownership;
mod parents;
