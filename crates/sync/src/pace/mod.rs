//! The pace of requests, pure: `(state, cost, now) → state or a moment to wait for`.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    breaker::{Route, Scope, ScopeKind},
    moment,
};

/// Of one scope: a credential on GitHub, an endpoint or a ticket on Jira.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, expecting = "a mapping with `write_interval_ms` and `limits`")]
pub struct PaceSettings {
    pub write_interval_ms: u32,
    pub limits: Vec<RateLimit>,
}

/// At most so much within any time of this length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimit {
    pub counted: Counted,
    pub most: u32,
    pub per_ms: u32,
}

impl RateLimit {
    const fn new(counted: Counted, most: u32, per_ms: u32) -> Self {
        Self { counted, most, per_ms }
    }
}

const SECOND: u32 = 1000;
const MINUTE: u32 = 60 * SECOND;
const HOUR: u32 = 60 * MINUTE;

impl PaceSettings {
    /// For a test server.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Of one credential (docs/formats.md, "Trackers"): a second between writes, about 80 creations a minute
    /// and 500 an hour, 900 points a minute, 5,000 requests an hour.
    pub fn github() -> Self {
        Self {
            write_interval_ms: SECOND,
            limits: vec![
                RateLimit::new(Counted::Creations, 80, MINUTE),
                RateLimit::new(Counted::Creations, 500, HOUR),
                RateLimit::new(Counted::Points, 900, MINUTE),
                RateLimit::new(Counted::Requests, 5000, HOUR),
            ],
        }
    }

    /// 20 writes in 2 seconds for one issue (docs/formats.md, "Trackers").
    pub fn jira_ticket() -> Self {
        Self { write_interval_ms: 0, limits: vec![RateLimit::new(Counted::Writes, 20, 2 * SECOND)] }
    }

    /// Jira's burst limit is up to the site: 10 requests a second is our own choice.
    pub fn jira_endpoint() -> Self {
        Self { write_interval_ms: 0, limits: vec![RateLimit::new(Counted::Requests, 10, SECOND)] }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopedPace {
    pub credential: PaceSettings,
    pub endpoint: PaceSettings,
    pub ticket: PaceSettings,
}

impl ScopedPace {
    pub fn github() -> Self {
        Self { credential: PaceSettings::github(), ..Self::default() }
    }

    pub fn jira() -> Self {
        Self {
            endpoint: PaceSettings::jira_endpoint(),
            ticket: PaceSettings::jira_ticket(),
            ..Self::default()
        }
    }

    /// `None` for a host, which has no limits of its own.
    pub const fn of(&self, kind: ScopeKind) -> Option<&PaceSettings> {
        match kind {
            ScopeKind::Host => None,
            ScopeKind::Credential => Some(&self.credential),
            ScopeKind::Endpoint => Some(&self.endpoint),
            ScopeKind::Ticket => Some(&self.ticket),
        }
    }
}

/// By every measure that trackers have (docs/formats.md, "Trackers").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    pub requests: u32,
    pub writes: u32,
    /// Tickets, comments and the like.
    pub creations: u32,
    /// GitHub's secondary points: 1 for reading, 5 for writing.
    pub points: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    Requests,
    Writes,
    Creations,
    Points,
}

impl Cost {
    pub const READ: Self = Self { requests: 1, writes: 0, creations: 0, points: 1 };
    pub const WRITE: Self = Self { requests: 1, writes: 1, creations: 0, points: 5 };

    pub const fn create(count: u32) -> Self {
        Self { creations: count, ..Self::WRITE }
    }

    pub const fn of(&self, counted: Counted) -> u32 {
        match counted {
            Counted::Requests => self.requests,
            Counted::Writes => self.writes,
            Counted::Creations => self.creations,
            Counted::Points => self.points,
        }
    }
}

/// Kept in the ledger: all processes of a machine share it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    last_write_at: Option<Timestamp>,
    windows: Vec<Window>,
    budget: Option<Budget>,
}

/// `x-ratelimit-remaining` and `x-ratelimit-reset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub remaining: u32,
    /// By this machine's clock.
    pub reset_at: Timestamp,
}

/// An hour (docs/formats.md, "Trackers"), and what clocks differ by.
const LONGEST_PERIOD_MS: u64 = 61 * 60 * 1000;

impl Budget {
    fn is_possible(&self, now: Timestamp) -> bool {
        now < self.reset_at && moment::between(now, self.reset_at) <= LONGEST_PERIOD_MS
    }
}

impl Pace {
    pub fn noted_at(&self) -> Option<Timestamp> {
        self.last_write_at.into_iter().chain(self.windows.iter().filter_map(Window::last_at)).max()
    }

    /// Counts the request if it is allowed; else the time at which to ask again.
    pub fn admit(&self, cost: &Cost, now: Timestamp, settings: &PaceSettings) -> Result<Self, Timestamp> {
        let mut next = self.clone();
        let mut earliest = now;
        if cost.writes > 0 {
            let interval = u64::from(settings.write_interval_ms);
            let last = self.last_write_at.filter(|last| moment::may_be_past(*last, now));
            earliest = last.map_or(now, |last| moment::after(last, interval)).max(now);
            next.last_write_at = Some(now);
        }
        next.budget = self.budget.filter(|budget| budget.is_possible(now));
        match &mut next.budget {
            Some(budget) if budget.remaining < cost.requests => earliest = earliest.max(budget.reset_at),
            Some(budget) => budget.remaining -= cost.requests,
            None => {}
        }
        next.windows = settings.limits.iter().map(|limit| self.window(limit)).collect();
        for window in &mut next.windows {
            if let Err(until) = window.take(cost, now) {
                earliest = earliest.max(until);
            }
        }
        if earliest > now { Err(earliest) } else { Ok(next) }
    }

    /// Answers come in any order: of one period, the smallest counts.
    #[must_use]
    pub fn heard(mut self, budget: Budget) -> Self {
        self.budget = match self.budget {
            Some(own) if own.reset_at == budget.reset_at => {
                Some(Budget { remaining: own.remaining.min(budget.remaining), ..own })
            }
            Some(own) if own.reset_at > budget.reset_at => Some(own),
            _ => Some(budget),
        };
        self
    }

    pub const fn budget(&self) -> Option<&Budget> {
        self.budget.as_ref()
    }

    fn window(&self, limit: &RateLimit) -> Window {
        let own = self.windows.iter().find(|window| window.limit() == limit);
        own.cloned().unwrap_or_else(|| Window::new(*limit))
    }
}

/// Limits what is kept; waits are at most a sixtieth too long.
const PARTS: u32 = 60;

/// The recent use of one limit. A part counts until all of it is long enough ago, so that no time of that
/// length ever has more than allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    limit: RateLimit,
    /// Begin in milliseconds since 1970, and use; the oldest first.
    parts: VecDeque<(i64, u32)>,
}

impl Window {
    pub fn new(limit: RateLimit) -> Self {
        Self { limit, parts: VecDeque::new() }
    }

    pub const fn limit(&self) -> &RateLimit {
        &self.limit
    }

    pub fn take(&mut self, cost: &Cost, now: Timestamp) -> Result<(), Timestamp> {
        let cost = cost.of(self.limit.counted);
        if cost == 0 {
            return Ok(());
        }
        let now = now.as_millisecond();
        self.forget(now);
        let mut used: u64 = self.parts.iter().map(|(_, used)| u64::from(*used)).sum();
        let most = u64::from(self.limit.most.max(1));
        let needed = u64::from(cost).min(most);
        if used + needed > most {
            for (start, part) in &self.parts {
                used -= u64::from(*part);
                if used + needed <= most {
                    return Err(moment::at(self.end(*start)));
                }
            }
        }
        let width = self.width();
        match self.parts.back_mut() {
            Some((start, used)) if now < start.saturating_add(width) => *used = used.saturating_add(cost),
            _ => self.parts.push_back((now, cost)),
        }
        Ok(())
    }

    fn last_at(&self) -> Option<Timestamp> {
        self.parts.back().map(|(start, _)| moment::at(*start))
    }

    fn forget(&mut self, now: i64) {
        self.parts.retain(|(start, _)| moment::may_be_past(moment::at(*start), moment::at(now)));
        while self.parts.front().is_some_and(|(start, _)| self.end(*start) <= now) {
            self.parts.pop_front();
        }
    }

    fn width(&self) -> i64 {
        i64::from((self.limit.per_ms / PARTS).max(1))
    }

    fn end(&self, start: i64) -> i64 {
        start.saturating_add(self.width()).saturating_add(i64::from(self.limit.per_ms))
    }
}

/// Load, ask and store inside one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimiter {
    paces: BTreeMap<Scope, (Pace, PaceSettings)>,
}

impl RateLimiter {
    /// `find` gives the stored ones. A scope without limits has no pace, but a credential always has one, for
    /// the tracker's own budget.
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

    /// Counts the request in every scope, or in none. Of a batch each ticket has one write.
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
mod cases;

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
