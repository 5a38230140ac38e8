//! Circuit breakers, pure: `(state, outcome, now) → state`. They guard requests to trackers alone; local
//! commands never ask them.

mod reason;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::moment;

pub use reason::{Consequence, DETAIL_LIMIT, Failure, Reason, Retry, Trip};
pub use reason::{Route, Scope, ScopeKind};

/// Kept in the ledger: it survives restarts and all processes share it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Breaker {
    Closed {
        failures: u32,
        last_failure_at: Option<Timestamp>,
        /// Earlier versions did not store it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_failure: Option<Failure>,
    },
    Open(Outage),
    HalfOpen {
        outage: Outage,
        probes: Vec<Timestamp>,
        succeeded: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    pub since: Timestamp,
    pub until: Timestamp,
    pub trips: u32,
    pub cause: Failure,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    Pass,
    // The outcome of a probe must be reported.
    Probe,
    Refused { until: Timestamp, cause: Failure },
}

impl Default for Breaker {
    fn default() -> Self {
        Self::Closed { failures: 0, last_failure_at: None, last_failure: None }
    }
}

impl Breaker {
    pub fn is_pristine(&self) -> bool {
        *self == Self::default()
    }

    pub const fn outage(&self) -> Option<&Outage> {
        match self {
            Self::Closed { .. } => None,
            Self::Open(outage) | Self::HalfOpen { outage, .. } => Some(outage),
        }
    }

    pub fn noted_at(&self) -> Option<Timestamp> {
        match self {
            Self::Closed { last_failure_at, .. } => *last_failure_at,
            Self::Open(outage) | Self::HalfOpen { outage, .. } => Some(outage.since),
        }
    }

    #[must_use]
    pub fn admit(self, now: Timestamp, settings: &BreakerSettings) -> (Self, Admission) {
        match self {
            Self::Closed { .. } => (self, Admission::Pass),
            Self::Open(outage) => {
                // Of an outage that a clock which was ahead has noted nobody knows when it is over: it is
                // tried.
                if now < outage.until && moment::may_be_past(outage.since, now) {
                    let refused = Admission::Refused { until: outage.until, cause: outage.cause.clone() };
                    return (Self::Open(outage), refused);
                }
                Self::HalfOpen { outage, probes: Vec::new(), succeeded: 0 }.admit(now, settings)
            }
            Self::HalfOpen { outage, mut probes, succeeded } => {
                let longest = moment::after(now, seconds(settings.probe_seconds));
                // A probe whose process died is forgotten; a deadline beyond any that could be given now is
                // of a clock that was set back.
                probes.retain(|deadline| now < *deadline && *deadline <= longest);
                let is_free = probes.len() < settings.probes.max(1) as usize;
                let admission = match (is_free, probes.iter().min()) {
                    (false, Some(first)) => Admission::Refused { until: *first, cause: outage.cause.clone() },
                    _ => Admission::Probe,
                };
                if admission == Admission::Probe {
                    probes.push(longest);
                }
                (Self::HalfOpen { outage, probes, succeeded }, admission)
            }
        }
    }

    #[must_use]
    pub fn succeeded(self, settings: &BreakerSettings) -> Self {
        match self {
            Self::Closed { .. } => Self::default(),
            // A request from before it opened says nothing about now.
            Self::Open(outage) => Self::Open(outage),
            Self::HalfOpen { succeeded, .. } if succeeded + 1 >= settings.successes => Self::default(),
            Self::HalfOpen { outage, mut probes, succeeded } => {
                remove_first(&mut probes);
                Self::HalfOpen { outage, probes, succeeded: succeeded + 1 }
            }
        }
    }

    /// A probe ended without an outcome: another one may begin.
    #[must_use]
    pub fn released(mut self) -> Self {
        if let Self::HalfOpen { probes, .. } = &mut self {
            remove_first(probes);
        }
        self
    }

    #[must_use]
    pub fn failed(self, failure: &Failure, now: Timestamp, settings: &BreakerSettings) -> Self {
        let trip = failure.reason.consequence().trip;
        match self {
            _ if trip == Trip::Never => self.released(),
            Self::Closed { failures, last_failure_at, .. } => {
                let oldest = now.as_millisecond().saturating_sub(window(settings));
                let counts = last_failure_at.is_some_and(|at| at.as_millisecond() >= oldest);
                let failures = if counts { failures.saturating_add(1) } else { 1 };
                let names_time = failure.wait_until.is_some();
                if trip == Trip::Counted && !names_time && failures < settings.failures {
                    let (last_failure_at, last_failure) = (Some(now), Some(failure.clone()));
                    return Self::Closed { failures, last_failure_at, last_failure };
                }
                Self::Open(Outage::begin(failure, now, 1, settings))
            }
            // One outage, told by many requests: only a longer wait is news.
            Self::Open(mut outage) => {
                outage.until = outage.until.max(Outage::begin(failure, now, 0, settings).until);
                Self::Open(outage)
            }
            Self::HalfOpen { outage, .. } => {
                let trips = outage.trips.saturating_add(1);
                Self::Open(Outage::begin(failure, now, trips, settings))
            }
        }
    }
}

fn remove_first(probes: &mut Vec<Timestamp>) {
    if let Some(at) = (0..probes.len()).min_by_key(|at| probes[*at]) {
        probes.remove(at);
    }
}

fn window(settings: &BreakerSettings) -> i64 {
    i64::from(settings.window_seconds) * 1000
}

fn seconds(count: u32) -> u64 {
    u64::from(count) * 1000
}

impl Outage {
    /// With `trips` of 0, as long as the tracker says and no longer.
    fn begin(failure: &Failure, now: Timestamp, trips: u32, settings: &BreakerSettings) -> Self {
        let longest = seconds(settings.longest_wait_seconds);
        let own = match (failure.reason.consequence().trip, trips) {
            (Trip::NeedsPerson, _) => seconds(settings.person_wait_seconds),
            (_, 0) => 0,
            (_, trips) => {
                let doubled = 1_u64.checked_shl(trips - 1).unwrap_or(u64::MAX);
                seconds(least_wait(failure, settings)).saturating_mul(doubled).min(longest)
            }
        };
        let asked = failure.wait_until.map_or(0, |until| moment::between(now, until)).min(longest);
        Self { since: now, until: moment::after(now, own.max(asked)), trips, cause: failure.clone() }
    }
}

/// GitHub wants at least a minute for a secondary limit without a time (docs/formats.md, "Trackers").
fn least_wait(failure: &Failure, settings: &BreakerSettings) -> u32 {
    use Reason::SecondaryLimit;
    match (failure.reason, failure.wait_until, failure.reason.consequence().trip) {
        (_, Some(_), Trip::AtOnce) => 0,
        (SecondaryLimit, None, _) => settings.wait_seconds.max(60),
        _ => settings.wait_seconds,
    }
}

/// `breaker:` of a tracker in the configuration. Times are whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, expecting = "a mapping with keys such as `failures` and `wait_seconds`")]
pub struct BreakerSettings {
    /// Failures in a row after which a breaker opens. At least 1.
    pub failures: u32,
    pub window_seconds: u32,
    /// The first time that it stays open; doubled by each probe that fails.
    pub wait_seconds: u32,
    pub longest_wait_seconds: u32,
    /// The time that it stays open if only a person can fix the cause.
    pub person_wait_seconds: u32,
    /// Parallel probes while half open. At least 1.
    pub probes: u32,
    pub successes: u32,
    /// A probe without an outcome for this long is lost.
    pub probe_seconds: u32,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            failures: 5,
            window_seconds: 60,
            wait_seconds: 30,
            longest_wait_seconds: 2 * 60 * 60,
            person_wait_seconds: 60 * 60,
            probes: 1,
            successes: 1,
            probe_seconds: 60,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Circuit {
    breakers: BTreeMap<Scope, Breaker>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteAdmission {
    Pass,
    Refused { scope: Scope, until: Timestamp, cause: Failure },
}

impl Circuit {
    pub fn load<E>(
        route: &Route,
        mut find: impl FnMut(&Scope) -> Result<Option<Breaker>, E>,
    ) -> Result<Self, E> {
        let scopes = route.scopes().into_iter();
        let breakers = scopes.map(|scope| {
            let breaker = find(&scope)?.unwrap_or_default();
            Ok((scope, breaker))
        });
        Ok(Self { breakers: breakers.collect::<Result<_, E>>()? })
    }

    pub fn breakers(&self) -> impl Iterator<Item = (&Scope, &Breaker)> {
        self.breakers.iter()
    }

    /// If one breaker refuses, no other spends a probe.
    pub fn admit(&mut self, now: Timestamp, settings: &BreakerSettings) -> RouteAdmission {
        let mut admitted = BTreeMap::new();
        let mut refusal: Option<(Scope, Timestamp, Failure)> = None;
        for (scope, breaker) in &self.breakers {
            let (next, admission) = breaker.clone().admit(now, settings);
            if let Admission::Refused { until, cause } = admission
                // The last to open decides when asking makes sense again.
                && refusal.as_ref().is_none_or(|(_, latest, _)| until > *latest)
            {
                refusal = Some((scope.clone(), until, cause));
            }
            admitted.insert(scope.clone(), next);
        }
        match refusal {
            Some((scope, until, cause)) => RouteAdmission::Refused { scope, until, cause },
            None => {
                self.breakers = admitted;
                RouteAdmission::Pass
            }
        }
    }

    pub fn succeeded(&mut self, settings: &BreakerSettings) {
        for breaker in self.breakers.values_mut() {
            *breaker = std::mem::take(breaker).succeeded(settings);
        }
    }

    /// The reason decides which breakers it concerns. A host that answered is well, whatever it answered.
    pub fn failed(&mut self, failure: &Failure, now: Timestamp, settings: &BreakerSettings) {
        let concerned = failure.reason.consequence().scope;
        for (scope, breaker) in &mut self.breakers {
            let before = std::mem::take(breaker);
            *breaker = match scope.kind() {
                kind if kind == concerned => before.failed(failure, now, settings),
                ScopeKind::Host if failure.reason.shows_host_well() => before.succeeded(settings),
                _ => before.released(),
            };
        }
    }
}

#[cfg(test)]
mod cases;
