//! The edge of stepmark: files, history, locks, git and the database of queries. Everything else is pure and stands in `stepmark-model`.
//!
//! Everything that can change a file stands behind the feature `write`; watching for changes behind `watch`.

pub mod disk;
pub mod git;
pub mod history;
#[cfg(feature = "write")]
pub mod commit;
pub mod index_db;
pub mod configuration;
pub mod workspace;
pub mod repository;
pub mod leases;
pub mod sprint_status;
pub mod manifest;
pub mod catalogues;
pub mod gates;
pub mod checking;
#[cfg(feature = "write")]
pub mod changes;
pub mod checkpoints;
pub mod replay;
pub mod resuming;
pub mod instructions;
pub mod index;
#[cfg(feature = "write")]
pub mod hooks;
#[cfg(feature = "write")]
pub mod doctor;
#[cfg(feature = "watch")]
pub mod watching;
