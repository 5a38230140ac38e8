//! The settings of a worker, its notices, and its errors.

use std::sync::Arc;

use jiff::Timestamp;

use crate::ledger::{LeaseHeld, LedgerError};

/// The settings of a worker, beside what the configuration says about its tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerSettings {
    /// The number of milliseconds that the lease is kept after each transaction. Longer than the longest
    /// request.
    pub lease_ms: u64,
    /// The number of milliseconds that the worker waits altogether: for the lease, for the pace, and for what
    /// is in doubt. What would take longer is left for later. It never waits for a breaker.
    pub patience_ms: u64,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self { lease_ms: 120_000, patience_ms: 60 * 60 * 1000 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    Waits(Timestamp),
    Held(LeaseHeld),
    /// Something of the plan will not work, and why. Nothing was written yet.
    Obstacle(String),
}

pub type Listener = Arc<dyn Fn(&Notice) + Send + Sync>;

/// A reason why a worker stopped before it had been through its plan. What it had begun is in the ledger, and
/// whoever works next goes on.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error(transparent)]
    LeaseHeld(#[from] LeaseHeld),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}
