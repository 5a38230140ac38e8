//! Repeated deliveries of a ticket.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Jitter, RetrySettings};
use crate::{
    breaker::{Failure, Reason, Retry},
    moment,
    ticket::TicketDigest,
};

/// The state of the delivery of one ticket to one tracker. What is nowhere kept is [`Delivery::Due`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Delivery {
    #[default]
    Due,
    Waiting {
        attempts: u32,
        until: Timestamp,
        /// The time at which it failed; earlier versions did not note it.
        #[serde(default)]
        since: Option<Timestamp>,
        last: Failure,
    },
    /// It failed for good. It stays visible until a person or a change of the artifact gives it another try,
    /// or its cause has passed.
    Parked {
        attempts: u32,
        /// Since when.
        since: Timestamp,
        last: Failure,
        /// The digest of the ticket that could not be delivered.
        digest: TicketDigest,
    },
}

/// The longest wait that a tracker's own word can bring about: a day.
const LONGEST_NAMED_WAIT: u64 = 24 * 60 * 60 * 1000;

impl Delivery {
    /// Returns whether the ticket with the digest `desired` may be delivered now. A ticket that was refused
    /// may be tried once more when it has changed; one that is gone does not come back by that.
    pub fn is_due(&self, desired: TicketDigest, now: Timestamp) -> bool {
        match self {
            Self::Due => true,
            Self::Waiting { until, since, .. } => {
                let is_possible = since.is_none_or(|since| moment::may_be_past(since, now));
                now >= *until || !is_possible || moment::between(now, *until) > LONGEST_NAMED_WAIT
            }
            Self::Parked { last, digest, .. } => last.reason != Reason::Gone && *digest != desired,
        }
    }

    /// The time at which it is due by itself; `None` for what is due already or parked.
    pub const fn until(&self) -> Option<Timestamp> {
        match self {
            Self::Waiting { until, .. } => Some(*until),
            Self::Due | Self::Parked { .. } => None,
        }
    }

    /// The time at which it failed last, where that is known.
    pub const fn noted_at(&self) -> Option<Timestamp> {
        match self {
            Self::Due => None,
            Self::Waiting { since, .. } => *since,
            Self::Parked { since, .. } => Some(*since),
        }
    }

    /// The cause for which it is parked, where that may be no matter of its ticket: the tracker may come to
    /// take what it refused.
    pub fn cause(&self) -> Option<(Reason, &str)> {
        let is_own = |reason| matches!(reason, Reason::Gone | Reason::Unmarked | Reason::Touched);
        match self {
            Self::Parked { last, .. } if !is_own(last.reason) => Some((last.reason, &last.detail)),
            _ => None,
        }
    }

    /// Returns how often it was tried since it last succeeded.
    pub const fn attempts(&self) -> u32 {
        match self {
            Self::Due => 0,
            Self::Waiting { attempts, .. } | Self::Parked { attempts, .. } => *attempts,
        }
    }

    pub const fn last(&self) -> Option<&Failure> {
        match self {
            Self::Due => None,
            Self::Waiting { last, .. } | Self::Parked { last, .. } => Some(last),
        }
    }

    /// Hears that the delivery of the ticket with the digest `desired` failed. The wait is drawn from 0 to a
    /// bound that doubles (full jitter: many waiting deliveries do not come back together), and never ends
    /// before the moment that the tracker named.
    #[must_use]
    pub fn failed(
        self,
        failure: Failure,
        desired: TicketDigest,
        now: Timestamp,
        draw: Jitter,
        settings: &RetrySettings,
    ) -> Self {
        let retry = failure.reason.consequence().retry;
        let was_other = matches!(&self, Self::Parked { digest, .. } if *digest != desired);
        let before = if was_other { 0 } else { self.attempts() };
        let attempts = if retry == Retry::Postponed { before } else { before.saturating_add(1) };
        let is_last = retry == Retry::Counted && attempts >= settings.attempts;
        if retry == Retry::Parked || is_last {
            return Self::Parked { attempts, since: now, last: failure, digest: desired };
        }
        let own = match retry {
            Retry::Counted => draw.up_to(bound(attempts, settings)),
            // The breaker says when.
            Retry::Postponed | Retry::Parked => 0,
        };
        let named = failure.wait_until.map_or(0, |until| moment::between(now, until)).min(LONGEST_NAMED_WAIT);
        Self::Waiting { attempts, until: moment::after(now, own.max(named)), since: Some(now), last: failure }
    }

    /// Hears that it was tried to see whether an outage is over, which it is not. That says nothing about
    /// this ticket: it does not count, and the breaker says when it is tried again. So an outage parks
    /// nothing, however long.
    #[must_use]
    pub fn postponed(self, failure: Failure, now: Timestamp) -> Self {
        Self::Waiting { attempts: self.attempts(), until: now, since: Some(now), last: failure }
    }
}

/// The longest wait after so many attempts, in milliseconds.
fn bound(attempts: u32, settings: &RetrySettings) -> u64 {
    let longest = u64::from(settings.longest_wait_seconds) * 1000;
    let doubled = 1_u64.checked_shl(attempts.saturating_sub(1)).unwrap_or(u64::MAX);
    u64::from(settings.wait_ms).saturating_mul(doubled).min(longest)
}
