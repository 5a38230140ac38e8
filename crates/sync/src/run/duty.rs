//! Which process keeps the tickets of a tracker in step.

use jiff::Timestamp;

use super::RunSettings;
use crate::{
    TrackerName,
    ledger::{Lease, LeaseHeld, Ledger, LedgerError},
    worker::{give_back, try_lease},
};

/// The name of the lease on running for `tracker`. It is another one than that on working, so that a person can still say `sync apply`; no
/// tracker has a `.` in its name.
pub fn duty_of(tracker: &TrackerName) -> String {
    format!("run.{tracker}")
}

/// The right to run for a tracker, as one process sees it.
pub(super) struct Duty<'d> {
    ledger: &'d mut dyn Ledger,
    name: String,
    holder: &'d str,
    length_ms: u64,
    lease: Option<Lease>,
}

impl<'d> Duty<'d> {
    pub(super) fn new(
        ledger: &'d mut dyn Ledger,
        tracker: &TrackerName,
        holder: &'d str,
        settings: &RunSettings,
    ) -> Self {
        Self { ledger, name: duty_of(tracker), holder, length_ms: settings.lease_ms(), lease: None }
    }

    /// Takes or renews it; `Err` inside with whoever has it and lives. Whoever only waits writes nothing.
    pub(super) fn take(&mut self, now: Timestamp) -> Result<Result<&Lease, LeaseHeld>, LedgerError> {
        let taken = try_lease(self.ledger, &self.name, self.holder, now, self.length_ms)?;
        if taken.is_err() && self.lease.take().is_some() {
            // Whoever has it now gives its own.
            self.ledger.end_sign_of_life(&self.name)?;
        }
        Ok(taken.map(|lease| &*self.lease.insert(lease)))
    }

    /// Gives it back, where this process has it.
    pub(super) fn give_back(&mut self, now: Timestamp) -> Result<(), LedgerError> {
        self.lease.take().map_or(Ok(()), |lease| give_back(self.ledger, lease, now))
    }
}
