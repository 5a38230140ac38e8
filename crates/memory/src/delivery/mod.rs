//! The delivery of memory to other stores: with the ledger, the breaker and the retries of sync, so that work
//! here never waits for them.
//!
//! A target is asked what it holds before it is given anything, so that nothing is given twice, whoever ended
//! in the middle, and a target that was deleted is filled again. The ledger knows what was last seen there,
//! and what failed; one process at a time gives.

mod report;
mod due;
#[cfg(test)]
mod cases;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use stepmark_model::{artifact::FileHash, journal::ArtifactKey};
use stepmark_sync::{
    TrackerName,
    breaker::{Breaker, BreakerSettings, Circuit, Failure, Route, RouteAdmission},
    ledger::{Lease, LeaseHeld, Ledger, LedgerError, LedgerWriter, Link},
    retry::{Chance, Delivery, RetrySettings},
    ticket::{Marker, MarkerError, RemoteTicket, TicketDigest},
    worker::{begin, give_back, try_lease},
};

pub use due::Due;
pub use report::{Behind, DeliveryReport, StoreState, state_of};

use crate::target::{Target, Unit, UnitKey};

/// The time for which a process keeps a store for itself, and renews with every batch.
const LEASE_MS: u64 = 10 * 60 * 1000;

/// A reason why nothing could be delivered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeliveryError {
    /// The ledger fails.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Another process delivers to this store.
    #[error(transparent)]
    Held(#[from] LeaseHeld),
    /// The project has no id.
    #[error(transparent)]
    NoProject(#[from] MarkerError),
}

/// Whoever delivers to one store.
pub struct Courier<'c> {
    /// The name of the store in the configuration.
    pub store: TrackerName,
    /// The id of the project.
    pub project: &'c str,
    /// The name of this process.
    pub holder: &'c str,
    /// The time.
    pub now: &'c dyn Fn() -> Timestamp,
    /// Chance, for the waits between tries.
    pub chance: &'c mut Chance<'c>,
    /// Heard before each batch: the number of units that are done, and of all; `false` ends it.
    pub progress: &'c mut dyn FnMut(usize, usize) -> bool,
}

/// A unit with the digest of its form.
struct Wanted<'u> {
    unit: &'u Unit,
    marker: Marker,
    digest: TicketDigest,
}

impl Courier<'_> {
    /// Gives `target` what it lacks of the units that are `due`, and takes away what is no more. What fails
    /// is noted in the ledger with the time at which it is tried again.
    ///
    /// # Errors
    /// When the ledger fails, another process delivers, or the project has no id.
    pub fn deliver(
        &mut self,
        (ledger, target): (&mut dyn Ledger, &mut dyn Target),
        due: &[&Unit],
    ) -> Result<DeliveryReport, DeliveryError> {
        let (name, now) = (self.store.as_str().to_owned(), self.now);
        let lease = try_lease(ledger, &name, self.holder, now(), LEASE_MS)??;
        let mut round = Round { courier: self, ledger, target, lease, report: DeliveryReport::default() };
        let ended = round.run(due);
        let Round { ledger, lease, report, .. } = round;
        let given_back = give_back(ledger, lease, now());
        ended?;
        given_back?;
        Ok(report)
    }

    fn marker(&self, key: &UnitKey) -> Result<Marker, MarkerError> {
        marker(self.project, key)
    }
}

/// Gives all that failed another try, at once.
///
/// # Errors
/// When the ledger fails.
pub fn try_again(ledger: &mut dyn Ledger, store: &TrackerName) -> Result<(), LedgerError> {
    let mut transaction = ledger.write()?;
    for (marker, _) in transaction.deliveries(store)? {
        transaction.put_delivery(store, &marker, &Delivery::Due)?;
    }
    for scope in route(store).scopes() {
        transaction.put_breaker(&scope, &Breaker::default())?;
    }
    transaction.commit()
}

/// The name of a unit in the ledger.
fn marker(project: &str, key: &UnitKey) -> Result<Marker, MarkerError> {
    Marker::new(project, ArtifactKey::of_id(key.as_str()))
}

/// The digest of a form, as the ledger keeps it.
fn ledger_digest(form: &str) -> TicketDigest {
    FileHash::of(form.as_bytes()).into()
}

/// One round of deliveries, under a lease.
struct Round<'r, 'c> {
    courier: &'r mut Courier<'c>,
    ledger: &'r mut dyn Ledger,
    target: &'r mut dyn Target,
    lease: Lease,
    report: DeliveryReport,
}

impl Round<'_, '_> {
    fn run(&mut self, due: &[&Unit]) -> Result<(), DeliveryError> {
        let Some(held) = self.asked(&[], |target| target.held())? else { return Ok(()) };
        let wanted = self.wanted(due)?;
        self.note_held(&held, &wanted)?;
        self.forget(&held, &wanted)?;
        let open = self.open(&held, wanted)?;
        let all = open.len();
        let mut done = 0;
        for batch in open.chunks(self.target.batch().max(1)) {
            if !(self.courier.progress)(done, all) || !self.put(batch)? {
                break;
            }
            done += batch.len();
        }
        (self.courier.progress)(done, all);
        Ok(())
    }

    fn wanted<'u>(&self, due: &[&'u Unit]) -> Result<Vec<Wanted<'u>>, DeliveryError> {
        let forms = due.iter().filter_map(|unit| Some((*unit, self.target.form(unit)?)));
        forms
            .map(|(unit, form)| {
                let marker = self.courier.marker(&unit.key())?;
                Ok(Wanted { unit, marker, digest: ledger_digest(&form) })
            })
            .collect()
    }

    /// The units that the target lacks and may be given now.
    fn open<'u>(
        &mut self,
        held: &BTreeMap<UnitKey, String>,
        wanted: Vec<Wanted<'u>>,
    ) -> Result<Vec<Wanted<'u>>, DeliveryError> {
        let (now, ledger) = ((self.courier.now)(), self.ledger.read()?);
        let mut open = Vec::new();
        for one in wanted {
            if is_held(held, &one) {
                self.report.held += 1;
            } else if ledger.delivery(&self.courier.store, &one.marker)?.is_due(one.digest, now) {
                open.push(one);
            } else {
                self.report.postponed += 1;
            }
        }
        Ok(open)
    }

    /// Writes down what the target says that it holds: what it lost is not known to be there any more.
    fn note_held(
        &mut self,
        held: &BTreeMap<UnitKey, String>,
        wanted: &[Wanted<'_>],
    ) -> Result<(), DeliveryError> {
        let (store, now) = (self.courier.store.clone(), (self.courier.now)());
        let mut transaction = begin(self.ledger, &self.lease, LEASE_MS, now)?;
        let known: BTreeMap<Marker, Option<TicketDigest>> =
            transaction.links(&store)?.into_iter().map(|link| (link.marker, link.digest)).collect();
        let there: BTreeMap<&Marker, &Wanted<'_>> =
            wanted.iter().filter(|one| is_held(held, one)).map(|one| (&one.marker, one)).collect();
        for marker in known.keys().filter(|marker| !there.contains_key(marker)) {
            transaction.remove_link(&store, marker)?;
        }
        for (marker, one) in there {
            if known.get(marker) != Some(&Some(one.digest)) {
                note(&mut *transaction, &store, one, now)?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn forget(
        &mut self,
        held: &BTreeMap<UnitKey, String>,
        wanted: &[Wanted<'_>],
    ) -> Result<(), DeliveryError> {
        let wanted: BTreeSet<UnitKey> = wanted.iter().map(|one| one.unit.key()).collect();
        let gone: Vec<&UnitKey> = held.keys().filter(|key| !wanted.contains(key)).collect();
        if gone.is_empty() {
            return Ok(());
        }
        match self.asked(&[], |target| target.forget(&gone))? {
            Some(true) => self.report.forgotten = gone.len(),
            Some(false) => self.report.left_over = gone.len(),
            None => {}
        }
        Ok(())
    }

    /// Gives a batch; `false` where no further one makes sense now.
    fn put(&mut self, batch: &[Wanted<'_>]) -> Result<bool, DeliveryError> {
        let units: Vec<&Unit> = batch.iter().map(|one| one.unit).collect();
        let Some(()) = self.asked(batch, |target| target.put(&units))? else { return Ok(false) };
        let (store, now) = (self.courier.store.clone(), (self.courier.now)());
        let mut transaction = begin(self.ledger, &self.lease, LEASE_MS, now)?;
        for one in batch {
            note(&mut *transaction, &store, one, now)?;
            transaction.put_delivery(&store, &one.marker, &Delivery::Due)?;
        }
        transaction.commit()?;
        self.report.delivered += batch.len();
        Ok(true)
    }

    /// Asks the target, where its breaker lets that through, and tells the breaker. `None` where it fails or
    /// may not be asked: the report says why.
    fn asked<T>(
        &mut self,
        batch: &[Wanted<'_>],
        request: impl FnOnce(&mut dyn Target) -> Result<T, Failure>,
    ) -> Result<Option<T>, DeliveryError> {
        let (settings, now) = (BreakerSettings::default(), (self.courier.now)());
        let route = route(&self.courier.store);
        let mut transaction = begin(self.ledger, &self.lease, LEASE_MS, now)?;
        let mut circuit = Circuit::load(&route, |scope| transaction.breaker(scope))?;
        if let RouteAdmission::Refused { until, cause, .. } = circuit.admit(now, &settings) {
            self.report.refused = Some((until, cause));
            return Ok(None);
        }
        put_circuit(&mut *transaction, &circuit)?;
        transaction.commit()?;
        let answer = request(self.target);
        let now = (self.courier.now)();
        let mut transaction = begin(self.ledger, &self.lease, LEASE_MS, now)?;
        let mut circuit = Circuit::load(&route, |scope| transaction.breaker(scope))?;
        match &answer {
            Ok(_) => circuit.succeeded(&settings),
            Err(failure) => {
                circuit.failed(failure, now, &settings);
                for one in batch {
                    let (before, draw) =
                        (transaction.delivery(&self.courier.store, &one.marker)?, (self.courier.chance)());
                    let after =
                        before.failed(failure.clone(), one.digest, now, draw, &RetrySettings::default());
                    transaction.put_delivery(&self.courier.store, &one.marker, &after)?;
                }
                self.report.failures.push(failure.clone());
            }
        }
        put_circuit(&mut *transaction, &circuit)?;
        transaction.commit()?;
        Ok(answer.ok())
    }
}

fn is_held(held: &BTreeMap<UnitKey, String>, one: &Wanted<'_>) -> bool {
    // Half of the digest is enough to know it by.
    held.get(&one.unit.key()).is_some_and(|own| own.len() == 32 && one.digest.to_string().starts_with(own))
}

/// The scope of the breakers: a store is asked as a whole.
fn route(store: &TrackerName) -> Route {
    Route::new(store, (format!("memory.{store}"), "none"), "store", &[])
}

fn put_circuit(transaction: &mut dyn LedgerWriter, circuit: &Circuit) -> Result<(), LedgerError> {
    circuit.breakers().try_for_each(|(scope, breaker)| transaction.put_breaker(scope, breaker))
}

fn note(
    transaction: &mut dyn LedgerWriter,
    store: &TrackerName,
    one: &Wanted<'_>,
    now: Timestamp,
) -> Result<(), LedgerError> {
    let id = one.unit.key().to_string();
    let remote = RemoteTicket { key: id.clone(), id, url: String::new(), other_ids: BTreeMap::new() };
    let (tracker, marker) = (store.clone(), one.marker.clone());
    let link = Link { tracker, marker, remote, digest: Some(one.digest), linked_at: now };
    transaction.put_link(&link, None)
}
