//! The lease of a worker: taken once, renewed by everything that it writes.

use std::time::Duration;

use jiff::Timestamp;

use super::{ApplyError, Worker, WorkerClock};
use crate::{
    ledger::{Lease, Ledger, LedgerError, LedgerWriter, check_lease},
    moment,
    tracker::Tracker,
};

impl<L: Ledger, T: Tracker, C: WorkerClock> Worker<'_, L, T, C> {
    /// Takes the lease, and waits for it as long as there is patience.
    pub(super) async fn take_lease(&mut self) -> Result<Lease, ApplyError> {
        loop {
            let now = self.clock.now();
            let name = self.settings.name.as_str();
            let mut transaction = self.ledger.write()?;
            let current = transaction.lease(name)?;
            match Lease::acquire(current, name, self.holder, now, self.work.lease_ms) {
                Ok(lease) => {
                    transaction.put_lease(&lease)?;
                    transaction.commit()?;
                    return Ok(lease);
                }
                Err(held) => {
                    drop(transaction);
                    let until = held.0.until;
                    if !self.wait(None, until).await? {
                        return Err(held.into());
                    }
                }
            }
        }
    }

    /// Gives the lease back.
    pub(super) fn release(&mut self, lease: Lease) -> Result<(), LedgerError> {
        let now = self.clock.now();
        let mut transaction = self.ledger.write()?;
        check_lease(&*transaction, &lease)?;
        transaction.put_lease(&lease.released(now))?;
        transaction.commit()
    }

    /// Waits until that moment; `false`, and at once, where there is no patience left for that. `lease` is kept meanwhile.
    pub(super) async fn wait(
        &mut self,
        lease: Option<&Lease>,
        until: Timestamp,
    ) -> Result<bool, LedgerError> {
        let mut left = moment::between(self.clock.now(), until).max(1);
        if left > self.patience_ms {
            return Ok(false);
        }
        self.patience_ms -= left;
        while left > 0 {
            let part = left.min((self.work.lease_ms / 3).max(1));
            self.clock.sleep(Duration::from_millis(part)).await;
            left -= part;
            if let Some(lease) = lease {
                begin(self.ledger, lease, self.work.lease_ms, self.clock.now())?.commit()?;
            }
        }
        Ok(true)
    }
}

/// Begins a transaction of the holder of `lease`, which is checked and renewed.
pub(super) fn begin<'l, L: Ledger>(
    ledger: &'l mut L,
    lease: &Lease,
    length_ms: u64,
    now: Timestamp,
) -> Result<Box<dyn LedgerWriter + 'l>, LedgerError> {
    let mut transaction = ledger.write()?;
    check_lease(&*transaction, lease)?;
    transaction.put_lease(&Lease { until: moment::after(now, length_ms), ..lease.clone() })?;
    Ok(transaction)
}
