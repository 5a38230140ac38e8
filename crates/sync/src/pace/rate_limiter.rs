//! The paces of one request together.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Budget, Cost, Pace, PaceSettings, ScopedPace};
use crate::breaker::{Route, Scope, ScopeKind};

/// The paces that a request has to keep, as the ledger has them. Asked and told inside one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimiter {
    paces: BTreeMap<Scope, (Pace, PaceSettings)>,
}

impl RateLimiter {
    /// The paces of `route`; `find` gives those that are kept. A scope without limits has none, but a
    /// credential always has one: of it the tracker says what is left.
    pub fn load<E>(
        route: &Route,
        settings: &ScopedPace,
        mut find: impl FnMut(&Scope) -> Result<Option<Pace>, E>,
    ) -> Result<Self, E> {
        let mut paces = BTreeMap::new();
        for scope in route.scopes() {
            let Some(own) = settings.of(scope.kind()) else { continue };
            if *own != PaceSettings::unlimited() || scope.kind() == ScopeKind::Credential {
                let pace = find(&scope)?.unwrap_or_default();
                paces.insert(scope, (pace, own.clone()));
            }
        }
        Ok(Self { paces })
    }

    /// Asks whether the request may be made now; where it may, it is counted in every scope, else in none. Of
    /// a batch each ticket has one write.
    pub fn admit(&mut self, cost: &Cost, now: Timestamp) -> Result<(), Timestamp> {
        let mut admitted = BTreeMap::new();
        let mut earliest = now;
        for (scope, (pace, settings)) in &self.paces {
            let of_ticket = Cost { writes: cost.writes.min(1), creations: cost.creations.min(1), ..*cost };
            let cost = if scope.kind() == ScopeKind::Ticket { &of_ticket } else { cost };
            match pace.admit(cost, now, settings) {
                Ok(next) => drop(admitted.insert(scope.clone(), (next, settings.clone()))),
                Err(until) => earliest = earliest.max(until),
            }
        }
        if earliest > now {
            return Err(earliest);
        }
        self.paces = admitted;
        Ok(())
    }

    /// Hears what the tracker says is left to the credential.
    pub fn heard(&mut self, budget: Budget) {
        for (scope, (pace, _)) in &mut self.paces {
            if scope.kind() == ScopeKind::Credential {
                *pace = std::mem::take(pace).heard(budget);
            }
        }
    }

    pub fn paces(&self) -> impl Iterator<Item = (&Scope, &Pace)> {
        self.paces.iter().map(|(scope, (pace, _))| (scope, pace))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        moment,
        pace::{Counted, RateLimit},
        ticket::sample::marker,
    };

    fn rate_limiter(settings: &ScopedPace) -> RateLimiter {
        let ticket = |id| ("jira".parse().unwrap(), marker(id));
        let route = Route {
            host: "h".to_owned(),
            credential: "c".to_owned(),
            endpoint: "PUT /issue".to_owned(),
            tickets: vec![ticket("a"), ticket("b")],
        };
        RateLimiter::load(&route, settings, |_| Ok::<_, ()>(None)).unwrap()
    }

    #[test]
    fn all_scopes_allow_it_or_none_counts_it() {
        let writes = |most| PaceSettings {
            write_interval_ms: 0,
            limits: vec![RateLimit { counted: Counted::Writes, most, per_ms: 60_000 }],
        };
        let settings = ScopedPace { credential: writes(9), endpoint: writes(9), ticket: writes(1) };
        let mut rate_limiter = rate_limiter(&settings);
        assert_eq!(rate_limiter.paces().count(), 4);
        let (now, two) = (moment::at(0), Cost { writes: 2, ..Cost::WRITE });
        rate_limiter.admit(&two, now).unwrap();
        let counted = rate_limiter.clone();
        let until = rate_limiter.admit(&two, now).unwrap_err();
        assert_eq!(rate_limiter, counted, "each ticket was written, so nothing is counted");
        rate_limiter.admit(&two, until).unwrap();
    }

    #[test]
    fn what_is_left_is_left_to_the_credential() {
        let mut rate_limiter = rate_limiter(&ScopedPace::default());
        assert_eq!(rate_limiter.paces().count(), 1);
        rate_limiter.heard(Budget { remaining: 0, reset_at: moment::at(500) });
        assert_eq!(rate_limiter.admit(&Cost::READ, moment::at(0)), Err(moment::at(500)));
        rate_limiter.admit(&Cost::READ, moment::at(500)).unwrap();
    }
}
