//! The delivery of memory to other stores: with the ledger, the breaker and the retries of sync, so that work
//! here never waits for them.
//!
//! A target is asked what it holds before it is given anything, so that nothing is given twice, whoever ended
//! in the middle, and a target that was deleted is filled again. The ledger knows what was last seen there,
//! and what failed; one process at a time gives.

mod round;
#[cfg(test)]
mod cases;

use jiff::Timestamp;
use stepmark_model::{artifact::FileHash, journal::ArtifactKey};
use stepmark_sync::{
    Error, ErrorKind, Result, TrackerName,
    breaker::{Breaker, Route},
    ledger::Ledger,
    retry::{Chance, Delivery},
    ticket::{Marker, TicketDigest},
    worker::{give_back, try_lease},
};

pub use round::{Behind, DeliveryReport, Due, StoreState, state_of};

use self::round::{LEASE_MS, Round};
use crate::target::{Target, Unit, UnitKey};

pub struct Deliverer<'d> {
    pub store: TrackerName,
    pub project: &'d str,
    pub holder: &'d str,
    pub now: &'d dyn Fn() -> Timestamp,
    pub chance: &'d mut Chance<'d>,
    /// Heard before each batch: the number of units that are done, and of all; `false` ends it.
    pub progress: &'d mut dyn FnMut(usize, usize) -> bool,
}

impl Deliverer<'_> {
    /// Gives `target` what it lacks of the units that are `due`, and takes away what is no more. What fails
    /// is noted in the ledger with the time at which it is tried again.
    pub fn deliver(
        &mut self,
        (ledger, target): (&mut dyn Ledger, &mut dyn Target),
        due: &[&Unit],
    ) -> Result<DeliveryReport> {
        let (name, now) = (self.store.as_str().to_owned(), self.now);
        let lease = try_lease(ledger, &name, self.holder, now(), LEASE_MS)?;
        let mut round = Round::new(self, (&mut *ledger, target), lease.clone());
        let report = round.run(due);
        let given_back = give_back(ledger, lease, now());
        let report = report?;
        given_back?;
        Ok(report)
    }
}

pub fn try_again(ledger: &mut dyn Ledger, store: &TrackerName) -> Result<()> {
    let mut transaction = ledger.write()?;
    for (marker, _) in transaction.deliveries(store)? {
        transaction.put_delivery(store, &marker, &Delivery::Due)?;
    }
    for scope in route(store).scopes() {
        transaction.put_breaker(&scope, &Breaker::default())?;
    }
    transaction.commit()
}

fn marker(project: &str, key: &UnitKey) -> Result<Marker> {
    Marker::new(project, ArtifactKey::of_id(key.as_str()))
        .map_err(|error| Error { kind: ErrorKind::Io, ..error })
}

/// The name in the ledger under which the last failure of a store as a whole is kept.
fn whole() -> UnitKey {
    "store".to_owned().into()
}

fn ledger_digest(form: &str) -> TicketDigest {
    FileHash::of(form.as_bytes()).into()
}

/// The scope of the breakers: a store is asked as a whole.
fn route(store: &TrackerName) -> Route {
    Route::new(store, (format!("memory.{store}"), "none"), "store", &[])
}
