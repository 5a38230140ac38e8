//! Admission of requests by the ledger's breakers and pace. The preconditions of an action are checked inside
//! the transaction that stores its intent.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{ActionOutcome, Deferred, trial::Trials};
use crate::{
    Result,
    breaker::{Admission, Breaker, Circuit, Failure, Route, RouteAdmission, Scope, ScopeKind},
    configuration::TrackerSettings,
    ledger::{IntentAction, LedgerReader, LedgerWriter, Link},
    pace::{Budget, Cost, RateLimiter},
    plan::{Action, ActionKind},
    retry::Delivery,
    ticket::{Marker, RemoteTicket, Ticket},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RequestAdmission {
    Open,
    TooFast { until: Timestamp },
    Refused { scope: Scope, until: Timestamp, cause: Failure },
}

/// Stores anything only if both allow it.
pub(super) fn ask(
    ledger: &mut dyn LedgerWriter,
    route: &Route,
    cost: &Cost,
    settings: &TrackerSettings,
    now: Timestamp,
) -> Result<RequestAdmission> {
    let mut circuit = Circuit::load(route, |scope| ledger.breaker(scope))?;
    let before = circuit.clone();
    if let RouteAdmission::Refused { scope, until, cause } = circuit.admit(now, &settings.breaker) {
        return Ok(RequestAdmission::Refused { scope, until, cause });
    }
    let mut rate_limiter = RateLimiter::load(route, &settings.pace, |scope| ledger.pace(scope))?;
    if let Err(until) = rate_limiter.admit(cost, now) {
        return Ok(RequestAdmission::TooFast { until });
    }
    put_changed(ledger, &before, &circuit)?;
    rate_limiter.paces().try_for_each(|(scope, pace)| ledger.put_pace(scope, pace))?;
    Ok(RequestAdmission::Open)
}

/// A probe of the host's breaker. Call it before [`tell`].
pub(super) fn is_probe(ledger: &dyn LedgerReader, route: &Route) -> Result<bool> {
    let host = Scope::Host { host: route.host.clone() };
    Ok(ledger.breaker(&host)?.is_some_and(|breaker| breaker.outage().is_some()))
}

/// One for each ticket of its route, in order, or one for a request about none.
pub(super) struct Feedback<'h> {
    pub(super) route: &'h Route,
    pub(super) failures: Vec<Option<&'h Failure>>,
    pub(super) budget: Option<Budget>,
}

/// One event for host, credential and endpoint, however many tickets the request has.
pub(super) fn tell(
    ledger: &mut dyn LedgerWriter,
    heard: &Feedback<'_>,
    settings: &TrackerSettings,
    now: Timestamp,
) -> Result<()> {
    let wide = Route { tickets: Vec::new(), ..heard.route.clone() };
    let mut circuit = Circuit::load(&wide, |scope| ledger.breaker(scope))?;
    let before = circuit.clone();
    let scope_of = |failure: &Failure| failure.reason.consequence().scope;
    let failures = heard.failures.iter().flatten().copied();
    // The widest counts: a host's failure for one ticket holds for the rest of the batch.
    match failures.min_by_key(|failure| scope_of(failure)) {
        Some(failure) if scope_of(failure) != ScopeKind::Ticket => {
            circuit.failed(failure, now, &settings.breaker);
        }
        Some(failure) if heard.failures.iter().all(Option::is_some) => {
            circuit.failed(failure, now, &settings.breaker);
        }
        _ => circuit.succeeded(&settings.breaker),
    }
    put_changed(ledger, &before, &circuit)?;
    for ((tracker, marker), failure) in heard.route.tickets.iter().zip(&heard.failures) {
        let scope = Scope::Ticket { tracker: tracker.clone(), marker: marker.clone() };
        let before = ledger.breaker(&scope)?.unwrap_or_default();
        let after = of_ticket(before.clone(), *failure, settings, now);
        if after != before {
            ledger.put_breaker(&scope, &after)?;
        }
    }
    if let Some(budget) = heard.budget {
        let mut rate_limiter = RateLimiter::load(&wide, &settings.pace, |scope| ledger.pace(scope))?;
        rate_limiter.heard(budget);
        rate_limiter.paces().try_for_each(|(scope, pace)| ledger.put_pace(scope, pace))?;
    }
    Ok(())
}

fn of_ticket(
    breaker: Breaker,
    failure: Option<&Failure>,
    settings: &TrackerSettings,
    now: Timestamp,
) -> Breaker {
    match failure {
        None => breaker.succeeded(&settings.breaker),
        Some(failure) if failure.reason.consequence().scope == ScopeKind::Ticket => {
            breaker.failed(failure, now, &settings.breaker)
        }
        Some(_) => breaker.released(),
    }
}

fn put_changed(ledger: &mut dyn LedgerWriter, before: &Circuit, after: &Circuit) -> Result<()> {
    let changed = before.breakers().zip(after.breakers()).filter(|(before, after)| before != after);
    for (_, (scope, breaker)) in changed {
        ledger.put_breaker(scope, breaker)?;
    }
    Ok(())
}

#[derive(Debug)]
pub(super) struct Item<'p> {
    pub(super) action: &'p Action,
    pub(super) ticket: &'p Ticket,
    pub(super) remote: Option<RemoteTicket>,
    pub(super) before: Option<Ticket>,
    pub(super) parent: Option<RemoteTicket>,
    pub(super) was_in_doubt: bool,
}

pub(super) struct Ground<'g> {
    pub(super) ledger: &'g dyn LedgerReader,
    pub(super) settings: &'g TrackerSettings,
    pub(super) expected: &'g BTreeSet<&'g Marker>,
    pub(super) intents: &'g BTreeMap<Marker, IntentAction>,
    pub(super) now: Timestamp,
}

impl Ground<'_> {
    pub(super) fn check<'p>(
        &self,
        action: &'p Action,
        trials: &mut Trials,
    ) -> Result<Result<Item<'p>, Deferred>> {
        let name = &self.settings.name;
        let link = self.ledger.link(name, &action.marker)?;
        if !agrees(action, link.as_ref()) {
            return Ok(Err(Deferred::Stale));
        }
        let Some(ticket) = &action.ticket else { return Ok(Err(Deferred::Unknown)) };
        let intent = self.intents.get(&action.marker);
        if action.kind == ActionKind::Create && intent == Some(&IntentAction::Create) {
            // The look-up did not settle it.
            return Ok(Err(Deferred::Stale));
        }
        if let Some(held) = self.delivery(action, ticket, trials)? {
            return Ok(Err(held));
        }
        let parent = match &ticket.parent {
            None => None,
            Some(parent) => match self.ledger.link(name, parent)? {
                Some(link) => Some(link.remote),
                None if self.expected.contains(parent) => {
                    return Ok(Err(Deferred::NoParent { parent: parent.clone() }));
                }
                // No ticket here, now or later.
                None => None,
            },
        };
        let (remote, before) = match action.kind {
            ActionKind::CloseDuplicate => (action.remote.clone(), None),
            _ => (link.map(|link| link.remote), self.ledger.projected(name, &action.marker)?),
        };
        let was_in_doubt = intent == Some(&IntentAction::Update);
        Ok(Ok(Item { action, ticket, remote, before, parent, was_in_doubt }))
    }

    fn delivery(&self, action: &Action, ticket: &Ticket, trials: &mut Trials) -> Result<Option<Deferred>> {
        let name = &self.settings.name;
        let scope = Scope::Ticket { tracker: name.clone(), marker: action.marker.clone() };
        let breaker = self.ledger.breaker(&scope)?.unwrap_or_default();
        if let (_, Admission::Refused { until, cause }) = breaker.admit(self.now, &self.settings.breaker) {
            return Ok(Some(Deferred::Refused { scope, until, cause }));
        }
        // A duplicate has no delivery of its own.
        if action.kind == ActionKind::CloseDuplicate {
            return Ok(None);
        }
        let delivery = self.ledger.delivery(name, &action.marker)?;
        if delivery.is_due(ticket.digest(), self.now) || trials.takes(&delivery, self.now) {
            return Ok(None);
        }
        Ok(match delivery {
            Delivery::Due => None,
            Delivery::Waiting { until, last, .. } => Some(Deferred::Waiting { until, last }),
            Delivery::Parked { attempts, last, .. } => Some(Deferred::Parked { attempts, last }),
        })
    }
}

fn agrees(action: &Action, link: Option<&Link>) -> bool {
    let wanted = action.remote.as_ref().map(|remote| remote.id.as_str());
    let known = link.map(|link| link.remote.id.as_str());
    match action.kind {
        ActionKind::LookUp | ActionKind::Create => link.is_none(),
        ActionKind::Adopt => link.is_none() && wanted.is_some(),
        // Whichever ticket counts is not a duplicate.
        ActionKind::CloseDuplicate => wanted.is_some() && wanted != known,
        ActionKind::Update | ActionKind::Close | ActionKind::Prune => {
            wanted.is_some() && wanted == known && link.is_some_and(|link| link.digest == action.base)
        }
    }
}

impl From<Deferred> for ActionOutcome {
    fn from(held: Deferred) -> Self {
        Self::Deferred(held)
    }
}
