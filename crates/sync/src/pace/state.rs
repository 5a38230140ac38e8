//! Whether a request may be made yet.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Cost, PaceSettings, Window};
use crate::moment;

/// How fast a scope was asked lately, and what its tracker says is left. It is kept in the ledger, so that all processes of a machine
/// share it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// When something was written last.
    last_write_at: Option<Timestamp>,
    windows: Vec<Window>,
    budget: Option<Budget>,
}

/// What a tracker says is left of its own limit: `x-ratelimit-remaining` and `x-ratelimit-reset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// How many requests are left.
    pub remaining: u32,
    /// When there are as many as at the beginning again, by this machine's clock.
    pub reset_at: Timestamp,
}

/// No period of a limit is longer: an hour (docs/formats.md, "Trackers"), and what clocks differ by.
const LONGEST_PERIOD_MS: u64 = 61 * 60 * 1000;

impl Budget {
    /// Whether it still says something: its period is not over, and no clock that was ahead has named it.
    fn is_possible(&self, now: Timestamp) -> bool {
        now < self.reset_at && moment::between(now, self.reset_at) <= LONGEST_PERIOD_MS
    }
}

impl Pace {
    /// When something was noted last, where that is known.
    pub fn noted_at(&self) -> Option<Timestamp> {
        self.last_write_at.into_iter().chain(self.windows.iter().filter_map(Window::last_at)).max()
    }

    /// Asks whether a request that costs `cost` may be made now; where it may, it is counted.
    ///
    /// # Errors
    /// The first moment at which it may; nothing is counted then.
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

    /// Hears what the tracker says is left. Answers may arrive in another order than requests were made: of one period, the
    /// smallest number counts.
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

    /// What the tracker said is left, for people.
    pub const fn budget(&self) -> Option<&Budget> {
        self.budget.as_ref()
    }

    /// The window of `limit`; empty where it is a new one.
    fn window(&self, limit: &super::RateLimit) -> Window {
        let own = self.windows.iter().find(|window| window.limit() == limit);
        own.cloned().unwrap_or_else(|| Window::new(*limit))
    }
}
