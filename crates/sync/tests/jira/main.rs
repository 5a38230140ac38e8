//! The tracker of Jira against a server of our own that does things wrong.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../demo/mod.rs"]
mod demo;
#[path = "../recording/mod.rs"]
mod recording;
mod fake;
mod project;
mod issues;
mod statuses;
mod parents;
mod preflight;
mod faults;
mod synced_project;
mod together;
mod worker;
mod clones;
mod survival;
