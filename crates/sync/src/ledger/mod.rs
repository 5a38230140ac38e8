//! The memory of sync: links, what tickets were made to say, intents, deliveries, leases, breakers, paces. It
//! is this machine's alone, and nothing in it is the truth: markers in tickets bring the links back.

mod record;
mod intent;
mod lease;
mod store;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(test)]
mod conformance_cases;

pub use intent::{Intent, IntentAction, Link};
pub use lease::{Fenced, Lease, LeaseHeld};
pub use record::TrackerRecord;
#[cfg(feature = "sqlite")]
pub use sqlite::{LEDGER_FILE, SqliteLedger};
pub use store::{Ledger, LedgerError, LedgerReader, LedgerWriter, check_lease};
