//! The I/O of stepmark: files, history, locks, git and the query database. The rest is pure, in
//! `stepmark-model`.
//!
//! Features: `write` for all that changes files; `history` for history, versions in git and SQLite (implied
//! by `write`); `watch` for watching.

mod error;
pub mod disk;
pub mod git;
#[cfg(feature = "history")]
pub mod history;
#[cfg(feature = "write")]
pub mod commit;
#[cfg(feature = "history")]
pub mod index_db;
pub mod configuration;
pub mod workspace;
pub mod projection;
#[cfg(feature = "history")]
pub mod repository;
pub mod leases;
pub mod bmad;
pub mod manifest;
pub mod gates;
pub mod checking;
#[cfg(feature = "write")]
pub mod changes;
#[cfg(feature = "write")]
pub mod fixing;
pub mod checkpoints;
#[cfg(feature = "history")]
pub mod replay;
mod signals;
pub mod records;
pub mod asdd;
pub mod autodev;
pub mod coordination;
pub mod flows;
pub mod resuming;
pub mod instructions;
#[cfg(feature = "history")]
pub mod index;
#[cfg(feature = "write")]
pub mod hooks;
#[cfg(feature = "write")]
pub mod doctor;
#[cfg(feature = "watch")]
pub mod watching;

pub use error::{Error, ErrorKind};
