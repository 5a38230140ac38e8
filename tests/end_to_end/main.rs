//! The program from outside: the built `stepmark`, run in projects of its own with nothing of this machine's environment.
#![expect(clippy::disallowed_methods, reason = "tests make, run and look at everything directly")]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../crates/sync/tests/github/fake/mod.rs"]
#[expect(dead_code, reason = "the tests of the worker use more of it")]
mod fake_github;
mod harness;
#[path = "../../crates/sync/tests/recording/mod.rs"]
mod recording;

mod active_artifact;
mod arguments;
mod bad_content;
mod bad_paths;
#[cfg(unix)]
mod board;
mod check;
mod check_beside;
mod check_staged;
mod checkpoint;
mod colour;
mod complete;
mod completions;
mod config;
mod context;
mod delegate;
mod doctor;
mod exec;
mod explain;
mod fix;
mod full_disk;
mod git_programs;
mod gate;
mod history;
mod hook;
mod import_stories;
mod init;
mod invisible;
mod injected_faults;
mod instructions;
mod journal_in_git;
mod json;
mod killed;
mod killed_together;
mod lease;
mod ledgers_follow;
mod ledgers_of_specs;
mod lifecycle;
mod list;
mod local_state;
mod log;
mod man;
mod manifest;
mod monorepo;
mod named_artifacts;
mod next;
mod outputs;
mod permissions;
mod project;
mod project_ledgers;
mod project_some;
mod query;
mod readme;
mod remove;
mod reopen;
#[cfg(unix)]
mod report;
mod replay;
mod resume;
mod scope;
#[cfg(unix)]
mod serve;
mod session;
mod set;
mod shared_day;
mod show;
mod simultaneous_writers;
mod status;
mod streams;
mod sync;
mod sync_credentials;
mod sync_install;
mod sync_interrupted;
mod sync_jira;
#[cfg(unix)]
mod sync_run;
mod track;
mod transition;
mod tree;
mod undo;
#[cfg(unix)]
mod wide_lines;
