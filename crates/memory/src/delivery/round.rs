//! One round of deliveries to a store, under a lease.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use stepmark_sync::{
    TrackerName,
    breaker::{BreakerSettings, Circuit, Failure, Reason, RouteAdmission},
    ledger::{Lease, Ledger, LedgerError, LedgerReader, LedgerWriter, Link},
    retry::{Delivery, RetrySettings},
    ticket::{Marker, RemoteTicket, TicketDigest},
    worker::begin,
};

use super::{Deliverer, DeliveryError, DeliveryReport, ledger_digest, marker, route, whole};
use crate::target::{Held, Target, Unit, UnitKey};

/// The time for which a process keeps a store for itself, and renews with every batch: longer than any
/// request.
pub(super) const LEASE_MS: u64 = 10 * 60 * 1000;
/// The most units that are refused before a round ends.
const REFUSALS: usize = 3;
const GONE: usize = 500;

fn settings() -> BreakerSettings {
    BreakerSettings { window_seconds: 3600, ..BreakerSettings::default() }
}

/// A unit with its name in the ledger and the digest of its form.
struct Wanted<'u> {
    unit: &'u Unit,
    marker: Marker,
    digest: TicketDigest,
}

impl Wanted<'_> {
    fn is_in(&self, held: &Held) -> bool {
        let digest = self.digest.to_string();
        // Stores keep the first half of it.
        held.get(&self.unit.key()).is_some_and(|own| own.iter().any(|own| digest[..32] == **own))
    }
}

pub(super) struct Round<'r, 'd> {
    deliverer: &'r mut Deliverer<'d>,
    ledger: &'r mut dyn Ledger,
    target: &'r mut dyn Target,
    lease: Lease,
    report: DeliveryReport,
}

impl<'r, 'd> Round<'r, 'd> {
    pub(super) fn new(
        deliverer: &'r mut Deliverer<'d>,
        (ledger, target): (&'r mut dyn Ledger, &'r mut dyn Target),
        lease: Lease,
    ) -> Self {
        Self { deliverer, ledger, target, lease, report: DeliveryReport::default() }
    }

    /// Asks the target what it holds, takes away what is no more, and gives what it lacks. The breaker is
    /// asked once for all of it; only what was given, or nothing to give, closes it.
    pub(super) fn run(&mut self, due: &[&Unit]) -> Result<DeliveryReport, DeliveryError> {
        if self.is_admitted()? {
            match self.target.held() {
                Ok(held) => self.give(&held, due)?,
                Err(failure) => self.has_failed(&[], failure)?,
            }
        }
        Ok(std::mem::take(&mut self.report))
    }

    fn give(&mut self, held: &Held, due: &[&Unit]) -> Result<(), DeliveryError> {
        let wanted = self.wanted(due)?;
        self.note_held(held, &wanted)?;
        if let Err(failure) = self.forget(held, &wanted) {
            return self.has_failed(&[], failure);
        }
        let open = self.open(held, wanted)?;
        if open.is_empty() {
            self.has_succeeded(&[])?;
        }
        let (mut done, all) = (0, open.len());
        for batch in open.chunks(self.target.batch().max(1)) {
            if !(self.deliverer.progress)(done, all) || !self.put(batch)? {
                break;
            }
            done += batch.len();
        }
        (self.deliverer.progress)(done, all);
        Ok(())
    }

    fn wanted<'u>(&self, due: &[&'u Unit]) -> Result<Vec<Wanted<'u>>, DeliveryError> {
        let forms = due.iter().filter_map(|unit| Some((*unit, self.target.form(unit)?)));
        let wanted = |(unit, form): (&'u Unit, String)| {
            let marker = marker(self.deliverer.project, &unit.key())?;
            Ok(Wanted { unit, marker, digest: ledger_digest(&form) })
        };
        forms.map(wanted).collect()
    }

    fn open<'u>(&mut self, held: &Held, wanted: Vec<Wanted<'u>>) -> Result<Vec<Wanted<'u>>, LedgerError> {
        let (now, ledger) = ((self.deliverer.now)(), self.ledger.read()?);
        let mut open = Vec::new();
        for one in wanted {
            if one.is_in(held) {
                self.report.held += 1;
            } else if one.unit.has_secret() {
                self.report.withheld += 1;
            } else if ledger.delivery(&self.deliverer.store, &one.marker)?.is_due(one.digest, now) {
                open.push(one);
            } else {
                self.report.postponed += 1;
            }
        }
        Ok(open)
    }

    /// Writes down what the target says that it holds: what it lost is not known to be there any more.
    fn note_held(&mut self, held: &Held, wanted: &[Wanted<'_>]) -> Result<(), LedgerError> {
        let (store, now) = (self.deliverer.store.clone(), (self.deliverer.now)());
        let mut transaction = begin(self.ledger, &self.lease, LEASE_MS, now)?;
        let known: BTreeMap<Marker, Option<TicketDigest>> =
            transaction.links(&store)?.into_iter().map(|link| (link.marker, link.digest)).collect();
        let there: BTreeMap<&Marker, &Wanted<'_>> =
            wanted.iter().filter(|one| one.is_in(held)).map(|one| (&one.marker, one)).collect();
        for marker in known.keys().filter(|marker| !there.contains_key(marker)) {
            transaction.remove_link(&store, marker)?;
        }
        for (marker, one) in there {
            if known.get(marker) != Some(&Some(one.digest)) {
                note(&mut *transaction, &store, one, now)?;
            }
        }
        transaction.commit()
    }

    fn forget(&mut self, held: &Held, wanted: &[Wanted<'_>]) -> Result<(), Failure> {
        let wanted: BTreeSet<UnitKey> = wanted.iter().map(|one| one.unit.key()).collect();
        let gone: Vec<&UnitKey> = held.keys().filter(|key| !wanted.contains(key)).collect();
        for part in gone.chunks(GONE) {
            match self.target.forget(part)? {
                true => self.report.forgotten += part.len(),
                false => self.report.left_over += part.len(),
            }
        }
        Ok(())
    }

    /// Gives a batch, in halves where it is refused as a whole; `false` where no further one makes sense now.
    fn put(&mut self, batch: &[Wanted<'_>]) -> Result<bool, DeliveryError> {
        let units: Vec<&Unit> = batch.iter().map(|one| one.unit).collect();
        match self.target.put(&units) {
            Ok(()) => {
                self.has_succeeded(batch)?;
                Ok(true)
            }
            Err(failure) if !is_outage(&failure) && batch.len() > 1 => {
                let (first, second) = batch.split_at(batch.len() / 2);
                Ok(self.put(first)? && self.put(second)?)
            }
            Err(failure) => {
                let is_outage = is_outage(&failure);
                self.has_failed(batch, failure)?;
                Ok(!is_outage && self.report.failures.len() < REFUSALS)
            }
        }
    }

    fn is_admitted(&mut self) -> Result<bool, LedgerError> {
        let now = (self.deliverer.now)();
        let mut transaction = begin(self.ledger, &self.lease, LEASE_MS, now)?;
        let mut circuit = circuit(&*transaction, &self.deliverer.store)?;
        if let RouteAdmission::Refused { until, cause, .. } = circuit.admit(now, &settings()) {
            self.report.refused = Some((until, cause));
            return Ok(false);
        }
        put_circuit(&mut *transaction, &circuit)?;
        transaction.commit()?;
        Ok(true)
    }

    fn has_succeeded(&mut self, batch: &[Wanted<'_>]) -> Result<(), DeliveryError> {
        let (store, now) = (self.deliverer.store.clone(), (self.deliverer.now)());
        let mut transaction = begin(self.ledger, &self.lease, LEASE_MS, now)?;
        for one in batch {
            note(&mut *transaction, &store, one, now)?;
            transaction.put_delivery(&store, &one.marker, &Delivery::Due)?;
        }
        transaction.put_delivery(&store, &marker(self.deliverer.project, &whole())?, &Delivery::Due)?;
        let mut circuit = circuit(&*transaction, &store)?;
        circuit.succeeded(&settings());
        put_circuit(&mut *transaction, &circuit)?;
        transaction.commit()?;
        self.report.delivered += batch.len();
        Ok(())
    }

    /// Notes a failure. An outage is nothing that a unit has done: it does not count for those of `batch`.
    fn has_failed(&mut self, batch: &[Wanted<'_>], failure: Failure) -> Result<(), DeliveryError> {
        let (store, now) = (self.deliverer.store.clone(), (self.deliverer.now)());
        let mut transaction = begin(self.ledger, &self.lease, LEASE_MS, now)?;
        for one in batch {
            let before = transaction.delivery(&store, &one.marker)?;
            let after = match is_outage(&failure) {
                true => before.postponed(failure.clone(), now),
                false => {
                    let draw = (self.deliverer.chance)();
                    before.failed(failure.clone(), one.digest, now, draw, &RetrySettings::default())
                }
            };
            transaction.put_delivery(&store, &one.marker, &after)?;
        }
        let as_a_whole = Delivery::Due.postponed(failure.clone(), now);
        transaction.put_delivery(&store, &marker(self.deliverer.project, &whole())?, &as_a_whole)?;
        let mut circuit = circuit(&*transaction, &store)?;
        circuit.failed(&failure, now, &settings());
        put_circuit(&mut *transaction, &circuit)?;
        transaction.commit()?;
        self.report.failures.push(failure);
        Ok(())
    }
}

const fn is_outage(failure: &Failure) -> bool {
    matches!(failure.reason, Reason::Timeout | Reason::Unreachable)
}

fn circuit(ledger: &dyn LedgerReader, store: &TrackerName) -> Result<Circuit, LedgerError> {
    Circuit::load(&route(store), |scope| ledger.breaker(scope))
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
