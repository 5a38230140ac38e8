//! One round of deliveries, under a lease.

use std::collections::{BTreeMap, BTreeSet};

use super::{Deliverer, ledger_digest, marker, route, whole};
use crate::{
    Tier,
    target::{Held, Target, Unit, UnitKey},
};
use jiff::Timestamp;
use serde::Serialize;
use stepmark_sync::{
    Result, TrackerName,
    breaker::{BreakerSettings, Circuit, Failure, Reason, RouteAdmission},
    ledger::{Lease, Ledger, LedgerReader, LedgerWriter, Link},
    retry::{Delivery, RetrySettings},
    ticket::{Marker, RemoteTicket, TicketDigest},
    worker::begin,
};

/// Renewed with every batch: longer than any request.
pub(super) const LEASE_MS: u64 = 10 * 60 * 1000;
const REFUSALS: usize = 3;
const GONE: usize = 500;

fn settings() -> BreakerSettings {
    BreakerSettings { window_seconds: 3600, ..BreakerSettings::default() }
}

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

    /// Asks the breaker once; only a unit given, or nothing to give, closes it.
    pub(super) fn run(&mut self, due: &[&Unit]) -> Result<DeliveryReport> {
        if self.is_admitted()? {
            match self.target.held() {
                Ok(held) => self.give(&held, due)?,
                Err(failure) => self.has_failed(&[], failure)?,
            }
        }
        Ok(std::mem::take(&mut self.report))
    }

    fn give(&mut self, held: &Held, due: &[&Unit]) -> Result<()> {
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

    fn wanted<'u>(&self, due: &[&'u Unit]) -> Result<Vec<Wanted<'u>>> {
        let forms = due.iter().filter_map(|unit| Some((*unit, self.target.form(unit)?)));
        let wanted = |(unit, form): (&'u Unit, String)| {
            let marker = marker(self.deliverer.project, &unit.key())?;
            Ok(Wanted { unit, marker, digest: ledger_digest(&form) })
        };
        forms.map(wanted).collect()
    }

    fn open<'u>(&mut self, held: &Held, wanted: Vec<Wanted<'u>>) -> Result<Vec<Wanted<'u>>> {
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

    /// Units that the target lost are no longer stored as delivered.
    fn note_held(&mut self, held: &Held, wanted: &[Wanted<'_>]) -> Result<()> {
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

    /// Retries a refused batch in halves; `false` if no further batch makes sense now.
    fn put(&mut self, batch: &[Wanted<'_>]) -> Result<bool> {
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

    fn is_admitted(&mut self) -> Result<bool> {
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

    fn has_succeeded(&mut self, batch: &[Wanted<'_>]) -> Result<()> {
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

    /// An outage does not count for the units of `batch`.
    fn has_failed(&mut self, batch: &[Wanted<'_>], failure: Failure) -> Result<()> {
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

fn circuit(ledger: &dyn LedgerReader, store: &TrackerName) -> Result<Circuit> {
    Circuit::load(&route(store), |scope| ledger.breaker(scope))
}

fn put_circuit(transaction: &mut dyn LedgerWriter, circuit: &Circuit) -> Result<()> {
    circuit.breakers().try_for_each(|(scope, breaker)| transaction.put_breaker(scope, breaker))
}

fn note(
    transaction: &mut dyn LedgerWriter,
    store: &TrackerName,
    one: &Wanted<'_>,
    now: Timestamp,
) -> Result<()> {
    let id = one.unit.key().to_string();
    let remote = RemoteTicket { key: id.clone(), id, url: String::new(), other_ids: BTreeMap::new() };
    let (tracker, marker) = (store.clone(), one.marker.clone());
    let link = Link { tracker, marker, remote, digest: Some(one.digest), linked_at: now };
    transaction.put_link(&link, None)
}

#[derive(Clone, Debug)]
pub struct Due {
    pub tiers: Vec<Tier>,
    /// A checkpoint, the end of a session, of a flow, or of an artifact's work.
    pub milestone: Option<Timestamp>,
    pub now: Timestamp,
}

impl Due {
    /// Ended records are not given; the graph comes with the first milestone.
    pub fn has_come(&self, unit: &Unit) -> bool {
        let Some(record) = &unit.record else {
            return self.tiers.contains(&Tier::Milestone) && self.milestone.is_some();
        };
        let has_come = match record.tier {
            Tier::Milestone => self.milestone.is_some_and(|at| record.created_at <= at),
            // A summary is there from the end of its session.
            Tier::Continuous | Tier::Session => true,
        };
        // A superseded memory with a secret needs no warning.
        let is_over = record.is_expired(self.now) || !unit.superseded_by.is_empty() && unit.has_secret();
        has_come && self.tiers.contains(&record.tier) && !is_over
    }
}

#[derive(Clone, Debug, Default)]
pub struct DeliveryReport {
    pub delivered: usize,
    pub held: usize,
    pub postponed: usize,
    /// They hold a secret: no store gets them.
    pub withheld: usize,
    pub forgotten: usize,
    /// Stale units that the store cannot remove.
    pub left_over: usize,
    pub failures: Vec<Failure>,
    /// Until then, and why: the breaker is open.
    pub refused: Option<(Timestamp, Failure)>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct StoreState {
    pub units: usize,
    pub held: usize,
    pub behind: Vec<Behind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_until: Option<Timestamp>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Behind {
    pub key: String,
    pub label: String,
    pub attempts: u32,
    /// `None` for the next round, or never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    pub is_parked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

pub fn state_of(
    ledger: &dyn LedgerReader,
    (name, target): (&TrackerName, &dyn Target),
    project: &str,
    due: &[&Unit],
) -> Result<StoreState> {
    let links: BTreeMap<Marker, Option<TicketDigest>> =
        ledger.links(name)?.into_iter().map(|link| (link.marker, link.digest)).collect();
    let deliveries: BTreeMap<Marker, Delivery> = ledger.deliveries(name)?.into_iter().collect();
    let failed = marker(project, &whole()).ok().and_then(|marker| deliveries.get(&marker));
    let failure = failed.and_then(Delivery::last).map(|failure| failure.detail.clone());
    let mut state = StoreState { failure, ..StoreState::default() };
    for unit in due {
        let (Some(form), Ok(marker)) = (target.form(unit), marker(project, &unit.key())) else { continue };
        state.units += 1;
        match links.get(&marker) == Some(&Some(ledger_digest(&form))) {
            true => state.held += 1,
            false => state.behind.push(behind(unit, &unit.key(), deliveries.get(&marker))),
        }
    }
    let circuit = Circuit::load(&route(name), |scope| ledger.breaker(scope))?;
    let open = circuit.breakers().filter_map(|(_, breaker)| breaker.outage().map(|outage| outage.until));
    state.open_until = open.max();
    Ok(state)
}

fn behind(unit: &Unit, key: &UnitKey, delivery: Option<&Delivery>) -> Behind {
    let label = unit.record.as_ref().map_or(&unit.label, |record| &record.content);
    Behind {
        key: key.to_string(),
        label: crate::context::plain(label, 80),
        attempts: delivery.map_or(0, Delivery::attempts),
        until: delivery.and_then(Delivery::until),
        is_parked: matches!(delivery, Some(Delivery::Parked { .. })),
        failure: delivery.and_then(Delivery::last).map(|failure| failure.detail.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        MemoryKind,
        store::cases::{memory_of, told},
    };

    #[test]
    fn each_tier_has_its_moment() {
        let kinds = [MemoryKind::Decision, MemoryKind::Pattern, MemoryKind::Observation];
        let events = (0..).zip(kinds).map(|(at, kind)| told(kind.name(), kind, "s1", at)).collect();
        let units = memory_of(&[events]).units().unwrap();
        let at = |second: i64| Timestamp::from_second(1_700_000_000 + second).unwrap();
        let given = |tiers: &[Tier], milestone: Option<i64>, now: i64| -> Vec<&str> {
            let due = Due { tiers: tiers.to_vec(), milestone: milestone.map(at), now: at(now) };
            let due = units.iter().filter(|unit| due.has_come(unit));
            due.filter_map(|unit| unit.record.as_ref()).map(|record| record.kind.name()).collect()
        };
        let all = [Tier::Continuous, Tier::Milestone, Tier::Session];
        assert_eq!(given(&all, None, 1), ["decision"]);
        assert_eq!(given(&all, Some(-1), 1), ["decision"], "it was before");
        assert_eq!(given(&all, Some(1), 1), ["decision", "pattern", "observation"]);
        assert_eq!(given(&all[1..], Some(1), 40 * 24 * 3600), ["pattern"], "what was seen has ended");
        assert!(given(&all[2..], Some(1), 1).is_empty());
    }
}
