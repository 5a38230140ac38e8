//! What happens in a run.

use std::time::Duration;

use jiff::Timestamp;

use super::{Pass, PassError};
use crate::ledger::{Lease, LedgerError};

/// What happens in a run, for whoever writes logs and counts.
#[derive(Debug)]
pub enum RunEvent<'e> {
    /// Another process is on duty; this one waits.
    StandsBy {
        /// The other's lease.
        held: &'e Lease,
    },
    /// This process is on duty.
    OnDuty {
        /// Its lease.
        lease: &'e Lease,
    },
    /// Another process has taken over, since this one did not renew its lease in time.
    LostDuty {
        /// The other's lease.
        held: &'e Lease,
    },
    /// The lease could neither be taken nor renewed. It is tried again.
    NoLedger {
        /// Why.
        error: &'e LedgerError,
    },
    /// A pass was made.
    Passed {
        /// What it did.
        pass: &'e Pass,
        /// When it ended.
        at: Timestamp,
        /// How long it took.
        took: Duration,
    },
    /// A pass could not be made.
    PassFailed {
        /// Why.
        error: &'e PassError,
    },
    /// The run has ended: nothing is in flight.
    Stopped,
}
