//! The edge of stepmark: files, history, locks, git and the database of queries. Everything else is pure and
//! stands in `stepmark-model`.
//!
//! Everything that can change a file stands behind the feature `write`; history, versions in git and all that
//! asks SQLite behind `history`, which `write` brings; watching for changes behind `watch`.

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
