//! The memory of sync on this machine. Nothing in it is the truth: markers in tickets bring the links back.

mod store;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(test)]
mod conformance_cases;

#[cfg(feature = "sqlite")]
pub use sqlite::{LEDGER_FILE, SqliteLedger};
pub use store::{
    Intent, IntentAction, Lease, Ledger, LedgerReader, LedgerWriter, Link, TrackerRecord, check_lease,
};
