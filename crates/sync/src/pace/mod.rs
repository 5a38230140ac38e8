//! The pace of requests, pure: `(state, cost, now) → state or a moment to wait for`.

mod state;

use crate::breaker::ScopeKind;
use serde::{Deserialize, Serialize};

pub use state::{Budget, Pace, RateLimiter, Window};

/// The limits of one scope: a credential on GitHub, an endpoint or a ticket on Jira.
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
    /// No limit: for a test server that is driven flat out.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// GitHub's limits of one credential (docs/formats.md, "Trackers"): at least a second between writes,
    /// about 80 creations a minute and 500 an hour, 900 points a minute, 5,000 requests an hour.
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

    /// Jira's limit of one issue (docs/formats.md, "Trackers"): 20 writes in 2 seconds.
    pub fn jira_ticket() -> Self {
        Self { write_interval_ms: 0, limits: vec![RateLimit::new(Counted::Writes, 20, 2 * SECOND)] }
    }

    /// For one endpoint of Jira, whose burst limit is up to the site: 10 requests a second is our own choice.
    pub fn jira_endpoint() -> Self {
        Self { write_interval_ms: 0, limits: vec![RateLimit::new(Counted::Requests, 10, SECOND)] }
    }
}

/// The limits of a tracker, each scope by itself.
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

    /// The limits of one scope of this kind; `None` for a host, which has none of its own.
    pub const fn of(&self, kind: ScopeKind) -> Option<&PaceSettings> {
        match kind {
            ScopeKind::Host => None,
            ScopeKind::Credential => Some(&self.credential),
            ScopeKind::Endpoint => Some(&self.endpoint),
            ScopeKind::Ticket => Some(&self.ticket),
        }
    }
}

/// The cost of a request, by every measure that trackers have (docs/formats.md, "Trackers").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    pub requests: u32,
    pub writes: u32,
    /// The number of tickets, comments and the like that it creates.
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

#[cfg(test)]
mod cases;
