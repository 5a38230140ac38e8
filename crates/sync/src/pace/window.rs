//! How much was used lately.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Cost, RateLimit};
use crate::moment;

/// Into how many parts a time is cut: what is kept stays small, and waits are at most a sixtieth too long.
const PARTS: u32 = 60;

/// How much of one limit was used lately, in parts of the time that it is about. A part counts until all of it is long enough ago,
/// so that within **any** time of that length there is never more than allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    limit: RateLimit,
    /// When each part began, in milliseconds since 1970, and what was used in it; the oldest first.
    parts: VecDeque<(i64, u32)>,
}

impl Window {
    /// A window in which nothing was used.
    pub fn new(limit: RateLimit) -> Self {
        Self { limit, parts: VecDeque::new() }
    }

    /// The limit that it watches.
    pub const fn limit(&self) -> &RateLimit {
        &self.limit
    }

    /// Uses what `cost` counts for.
    ///
    /// # Errors
    /// The moment when there is room for it. What costs more than the limit allows at all needs an empty window.
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

    /// When the last part began.
    pub(super) fn last_at(&self) -> Option<Timestamp> {
        self.parts.back().map(|(start, _)| moment::at(*start))
    }

    /// Forgets what is long enough ago.
    fn forget(&mut self, now: i64) {
        self.parts.retain(|(start, _)| moment::may_be_past(moment::at(*start), moment::at(now)));
        while self.parts.front().is_some_and(|(start, _)| self.end(*start) <= now) {
            self.parts.pop_front();
        }
    }

    fn width(&self) -> i64 {
        i64::from((self.limit.per_ms / PARTS).max(1))
    }

    /// When a part that began at `start` counts no longer.
    fn end(&self, start: i64) -> i64 {
        start.saturating_add(self.width()).saturating_add(i64::from(self.limit.per_ms))
    }
}
