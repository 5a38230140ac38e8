//! Admission of requests, and what their outcomes mean for the next ones: breakers and pace, as the ledger
//! has them for all processes.

use jiff::Timestamp;

use crate::{
    breaker::{Breaker, Circuit, Failure, Route, RouteAdmission, Scope, ScopeKind},
    configuration::TrackerSettings,
    ledger::{LedgerError, LedgerReader, LedgerWriter},
    pace::{Budget, Cost, RateLimiter},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RequestAdmission {
    Open,
    TooFast { until: Timestamp },
    Refused { scope: Scope, until: Timestamp, cause: Failure },
}

/// Asks breakers and pace; only where both allow it is anything noted.
pub(super) fn ask(
    ledger: &mut dyn LedgerWriter,
    route: &Route,
    cost: &Cost,
    settings: &TrackerSettings,
    now: Timestamp,
) -> Result<RequestAdmission, LedgerError> {
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

/// Returns whether the request that was let through is to show whether an outage of its host is over. To be
/// asked before [`tell`].
pub(super) fn is_probe(ledger: &dyn LedgerReader, route: &Route) -> Result<bool, LedgerError> {
    let host = Scope::Host { host: route.host.clone() };
    Ok(ledger.breaker(&host)?.is_some_and(|breaker| breaker.outage().is_some()))
}

/// The outcomes of a request: one value for each ticket of its route, in their order, or a single one for a
/// request about none.
pub(super) struct Feedback<'h> {
    pub(super) route: &'h Route,
    pub(super) failures: Vec<Option<&'h Failure>>,
    pub(super) budget: Option<Budget>,
}

/// Tells breakers and pace. A request is one event for its host, credential and endpoint, however many
/// tickets it was about.
pub(super) fn tell(
    ledger: &mut dyn LedgerWriter,
    heard: &Feedback<'_>,
    settings: &TrackerSettings,
    now: Timestamp,
) -> Result<(), LedgerError> {
    let wide = Route { tickets: Vec::new(), ..heard.route.clone() };
    let mut circuit = Circuit::load(&wide, |scope| ledger.breaker(scope))?;
    let before = circuit.clone();
    let scope_of = |failure: &Failure| failure.reason.consequence().scope;
    let failures = heard.failures.iter().flatten().copied();
    // The widest counts: what a host says about one ticket of a batch holds for all that follow.
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

fn put_changed(ledger: &mut dyn LedgerWriter, before: &Circuit, after: &Circuit) -> Result<(), LedgerError> {
    let changed = before.breakers().zip(after.breakers()).filter(|(before, after)| before != after);
    for (_, (scope, breaker)) in changed {
        ledger.put_breaker(scope, breaker)?;
    }
    Ok(())
}
