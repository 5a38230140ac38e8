//! The breakers of one request together.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Admission, Breaker, BreakerSettings, Failure, Route, Scope, ScopeKind};

/// The breakers that a request concerns, as the ledger has them. Asked and told inside one transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Circuit {
    breakers: BTreeMap<Scope, Breaker>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteAdmission {
    /// It may, and its outcome must be told.
    Pass,
    Refused {
        scope: Scope,
        until: Timestamp,
        cause: Failure,
    },
}

impl Circuit {
    /// The breakers of `route`; `find` gives those that are kept.
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

    /// Asks whether the request may be made now. Where one breaker refuses, no other spends a probe.
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

    /// Tells the breakers that the request failed. The reason decides which of them it concerns; a host that
    /// answered is well, whatever it answered; for all others nothing is known.
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
