//! The lease of a worker: taken once, renewed by everything that it writes.

use std::time::Duration;

use jiff::Timestamp;

use super::{ApplyError, Notice, Worker};
use crate::{
    ledger::{Lease, LeaseHeld, Ledger, LedgerError, LedgerWriter, check_lease},
    moment,
};

/// The wait before the lease is asked for again: its holder may give it back any moment, or die.
const ASK_AGAIN_MS: u64 = 1000;

/// The same where another process takes it at this very moment.
const CONTEST_MS: u64 = 20;

const LONG_WAIT_MS: u64 = 10_000;

impl Worker<'_> {
    /// Takes the lease, and waits for it as long as there is patience. The lease of a process that is dead is
    /// not waited for.
    pub(super) async fn take_lease(&mut self) -> Result<Lease, ApplyError> {
        let mut is_told = false;
        loop {
            match self.try_lease()? {
                Ok(lease) => return Ok(lease),
                Err(held) => {
                    let again = moment::after(self.clock.now(), ASK_AGAIN_MS);
                    if held.0.until > again && !std::mem::replace(&mut is_told, true) {
                        self.notice(&Notice::Held(held.clone()));
                    }
                    if !self.wait(None, held.0.until.min(again)).await? {
                        return Err(held.into());
                    }
                }
            }
        }
    }

    fn try_lease(&mut self) -> Result<Result<Lease, LeaseHeld>, LedgerError> {
        let (now, name) = (self.clock.now(), self.settings.name.as_str());
        try_lease(self.ledger, name, self.holder, now, self.work.lease_ms)
    }

    pub(super) fn release(&mut self, lease: Lease) -> Result<(), LedgerError> {
        give_back(self.ledger, lease, self.clock.now())
    }

    /// Waits until that moment; `false`, and at once, where there is no patience left for that or the worker
    /// is to stop. `lease` is kept meanwhile.
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
        if left >= LONG_WAIT_MS {
            self.notice(&Notice::Waits(until));
        }
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

/// Takes the lease on `name`, where nobody who lives has it. Whoever only asks writes nothing.
pub fn try_lease(
    ledger: &mut dyn Ledger,
    name: &str,
    holder: &str,
    now: Timestamp,
    length_ms: u64,
) -> Result<Result<Lease, LeaseHeld>, LedgerError> {
    let seen = ledger.read()?.lease(name)?;
    let wanted = match Lease::acquire(seen.clone(), name, holder, now, length_ms) {
        Err(held) if ledger.is_holder_dead(name, held.0.number)? => {
            Lease::take_over(seen.clone(), name, holder, now, length_ms)
        }
        Err(held) => return Ok(Err(held)),
        Ok(wanted) => wanted,
    };
    // Before the lease is there for others to see, so that nobody ever sees it without.
    if !ledger.mark_alive(name, wanted.number)? {
        let until = moment::after(now, CONTEST_MS);
        return Ok(Err(LeaseHeld(Lease { until, holder: "another process".to_owned(), ..wanted })));
    }
    let current = match replace(ledger, seen.as_ref(), &wanted) {
        Ok(None) => return Ok(Ok(wanted)),
        // A lease that could not be renewed is still this process's.
        Err(error) if seen.is_some_and(|seen| seen.number == wanted.number) => return Err(error),
        current => current,
    };
    ledger.unmark_alive(name)?;
    // Somebody was faster.
    let until = moment::after(now, CONTEST_MS);
    Ok(Err(LeaseHeld(Lease { until, ..current?.unwrap_or(wanted) })))
}

/// Puts `wanted` in the place of `seen`; the lease that stands there instead, where there is another.
fn replace(
    ledger: &mut dyn Ledger,
    seen: Option<&Lease>,
    wanted: &Lease,
) -> Result<Option<Lease>, LedgerError> {
    let mut transaction = ledger.write()?;
    let current = transaction.lease(&wanted.name)?;
    if current.as_ref() != seen {
        return Ok(current);
    }
    transaction.put_lease(wanted)?;
    transaction.commit()?;
    Ok(None)
}

/// Gives a lease back. Where that fails this process still shows that it lives, so that others see it when it
/// does no more.
pub fn give_back(ledger: &mut dyn Ledger, lease: Lease, now: Timestamp) -> Result<(), LedgerError> {
    let name = lease.name.clone();
    match put_back(ledger, lease, now) {
        Err(error) if !matches!(error, LedgerError::Fenced(_)) => Err(error),
        released => released.and(ledger.unmark_alive(&name)),
    }
}

fn put_back(ledger: &mut dyn Ledger, lease: Lease, now: Timestamp) -> Result<(), LedgerError> {
    let mut transaction = ledger.write()?;
    check_lease(&*transaction, &lease)?;
    transaction.put_lease(&lease.released(now))?;
    transaction.commit()
}

/// Begins a transaction of the holder of `lease`, which is checked and renewed.
pub fn begin<'l>(
    ledger: &'l mut dyn Ledger,
    lease: &Lease,
    length_ms: u64,
    now: Timestamp,
) -> Result<Box<dyn LedgerWriter + 'l>, LedgerError> {
    let mut transaction = ledger.write()?;
    check_lease(&*transaction, lease)?;
    transaction.put_lease(&Lease { until: moment::after(now, length_ms), ..lease.clone() })?;
    Ok(transaction)
}
