//! Delivery of memory to other stores, with the ledger, breakers and retries of sync, so that local work
//! never waits for them. A target is asked for its content first: nothing is given twice, even after a crash,
//! and a deleted target is filled again. The ledger keeps what was last seen there, and failures; one process
//! at a time delivers.

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
    /// Called before each batch: units done, and all units; `false` ends it.
    pub progress: &'d mut dyn FnMut(usize, usize) -> bool,
}

impl Deliverer<'_> {
    /// Gives missing units that are `due`, removes stale ones; failures go to the ledger with the time of the
    /// next try.
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

/// For the last failure of the store as a whole.
fn whole() -> UnitKey {
    "store".to_owned().into()
}

fn ledger_digest(form: &str) -> TicketDigest {
    FileHash::of(form.as_bytes()).into()
}

fn route(store: &TrackerName) -> Route {
    Route::new(store, (format!("memory.{store}"), "none"), "store", &[])
}
