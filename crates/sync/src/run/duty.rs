//! Which process keeps the tickets of a tracker in step.

use jiff::Timestamp;

use super::RunSettings;
use crate::{
    TrackerName,
    ledger::{Lease, LeaseHeld, Ledger, LedgerError, check_lease},
};

/// The name of the lease on running for `tracker`. It is another one than that on working, so that a person can still say `sync apply`; no
/// tracker has a `:` in its name.
pub fn duty_of(tracker: &TrackerName) -> String {
    format!("run:{tracker}")
}

/// The right to run for a tracker, as one process sees it.
pub(super) struct Duty<'d, L> {
    ledger: &'d mut L,
    name: String,
    holder: &'d str,
    length_ms: u64,
    lease: Option<Lease>,
}

impl<'d, L: Ledger> Duty<'d, L> {
    pub(super) fn new(
        ledger: &'d mut L,
        tracker: &TrackerName,
        holder: &'d str,
        settings: &RunSettings,
    ) -> Self {
        Self { ledger, name: duty_of(tracker), holder, length_ms: settings.lease_ms(), lease: None }
    }

    /// Takes or renews it; `Err` inside with whoever has it. Whoever only waits writes nothing.
    pub(super) fn take(&mut self, now: Timestamp) -> Result<Result<&Lease, LeaseHeld>, LedgerError> {
        let current = self.ledger.read()?.lease(&self.name)?;
        if let Err(held) = self.acquire(current, now) {
            self.lease = None;
            return Ok(Err(held));
        }
        let mut transaction = self.ledger.write()?;
        let current = transaction.lease(&self.name)?;
        match Lease::acquire(current, &self.name, self.holder, now, self.length_ms) {
            Ok(lease) => {
                transaction.put_lease(&lease)?;
                transaction.commit()?;
                Ok(Ok(self.lease.insert(lease)))
            }
            Err(held) => {
                drop(transaction);
                self.lease = None;
                Ok(Err(held))
            }
        }
    }

    fn acquire(&self, current: Option<Lease>, now: Timestamp) -> Result<Lease, LeaseHeld> {
        Lease::acquire(current, &self.name, self.holder, now, self.length_ms)
    }

    /// Gives it back, where this process has it.
    pub(super) fn give_back(&mut self, now: Timestamp) -> Result<(), LedgerError> {
        let Some(lease) = self.lease.take() else { return Ok(()) };
        let mut transaction = self.ledger.write()?;
        check_lease(&*transaction, &lease)?;
        transaction.put_lease(&lease.released(now))?;
        transaction.commit()
    }
}
