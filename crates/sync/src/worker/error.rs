//! Why a worker stopped.

use crate::ledger::{LeaseHeld, LedgerError};

/// Why a worker stopped before it had been through its plan. What it had begun is in the ledger, and whoever works next goes on.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// Somebody else works on it.
    #[error(transparent)]
    LeaseHeld(#[from] LeaseHeld),
    /// The ledger failed, or the lease was lost.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}
