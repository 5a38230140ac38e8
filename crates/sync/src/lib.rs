//! stepmark-sync: one-way projection of workflow artifacts to GitHub Issues and Jira.
//!
//! `artifacts → ticket (what should be) → breaker, retry, pace → ledger (what was done) → plan (what differs)
//! → tracker`, which `worker` carries out and `run` repeats for as long as a process lives. A stage uses only
//! stages above it. Everything is pure but `ledger/sqlite`, `program` and the trackers; time and chance are
//! passed in.
//!
//! Nothing here can change an artifact: this crate depends on `stepmark-store` without its feature `write`,
//! where no such method exists. Whatever a tracker answers stays here.

#[cfg(all(doctest, feature = "prove-one-way"))]
mod one_way;
mod error;
mod scalar;
mod moment;
mod tracker_name;
pub mod program;
pub mod secret;
pub mod ticket;
pub mod breaker;
pub mod retry;
pub mod pace;
pub mod ledger;
pub mod configuration;
pub mod credential;
pub mod plan;
pub mod tracker;
pub mod worker;
pub mod run;

/// Boxed, so that traits with asynchronous methods can be trait objects.
pub type BoxFuture<'f, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'f>>;

pub use error::{Error, ErrorKind, Result};
pub use tracker_name::TrackerName;
