//! The lease of a worker: taken once, renewed by everything that it writes.

use std::time::Duration;

use jiff::Timestamp;

use super::{ApplyError, Worker, WorkerClock};
use crate::{
    ledger::{Lease, Ledger, LedgerError, LedgerWriter, check_lease},
    moment,
    tracker::Tracker,
};

/// How long is waited before the lease is asked for again: its holder may give it back any moment, or die.
const ASK_AGAIN_MS: u64 = 1000;

impl<L: Ledger, T: Tracker, C: WorkerClock> Worker<'_, L, T, C> {
    /// Takes the lease, and waits for it as long as there is patience. The lease of a process that is dead is not waited for.
    pub(super) async fn take_lease(&mut self) -> Result<Lease, ApplyError> {
        loop {
            let now = self.clock.now();
            let (name, holder, length_ms) = (self.settings.name.as_str(), self.holder, self.work.lease_ms);
            let nobody_else_lives = self.ledger.claim(name)?;
            let mut transaction = self.ledger.write()?;
            let current = transaction.lease(name)?;
            let lease = match Lease::acquire(current.clone(), name, holder, now, length_ms) {
                Err(_) if nobody_else_lives => Ok(Lease::take_over(current, name, holder, now, length_ms)),
                acquired => acquired,
            };
            match lease {
                Ok(lease) => {
                    transaction.put_lease(&lease)?;
                    transaction.commit()?;
                    return Ok(lease);
                }
                Err(held) => {
                    drop(transaction);
                    let until = held.0.until.min(moment::after(now, ASK_AGAIN_MS));
                    if !self.wait(None, until).await? {
                        return Err(held.into());
                    }
                }
            }
        }
    }

    /// Gives the lease back.
    pub(super) fn release(&mut self, lease: Lease) -> Result<(), LedgerError> {
        let name = lease.name.clone();
        let released = self.put_back(lease);
        self.ledger.give_up(&name);
        released
    }

    fn put_back(&mut self, lease: Lease) -> Result<(), LedgerError> {
        let now = self.clock.now();
        let mut transaction = self.ledger.write()?;
        check_lease(&*transaction, &lease)?;
        transaction.put_lease(&lease.released(now))?;
        transaction.commit()
    }

    /// Waits until that moment; `false`, and at once, where there is no patience left for that or the worker is to stop. `lease` is kept
    /// meanwhile.
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
            tokio::select! {
                () = self.clock.sleep(Duration::from_millis(part)) => left -= part,
                () = self.stop.asked() => return Ok(false),
            }
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
