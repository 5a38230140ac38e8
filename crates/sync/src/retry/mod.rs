//! Retries of deliveries, pure: `(state, failure, now, chance) → state`. Nothing sleeps: a wait is a time in
//! the ledger.

use jiff::{Timestamp, fmt::rfc2822};
use serde::{Deserialize, Serialize};

use crate::{
    breaker::{Failure, Reason, Retry},
    moment,
    ticket::TicketDigest,
};

/// One ticket in one tracker. [`Delivery::Due`] is not stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Delivery {
    #[default]
    Due,
    Waiting {
        attempts: u32,
        until: Timestamp,
        /// Earlier versions did not store it.
        #[serde(default)]
        since: Option<Timestamp>,
        last: Failure,
    },
    /// Visible until a person, a change of the artifact, or the end of its cause gives it another try.
    Parked { attempts: u32, since: Timestamp, last: Failure, digest: TicketDigest },
}

/// The most that a tracker's own word can bring about: a day.
const LONGEST_NAMED_WAIT: u64 = 24 * 60 * 60 * 1000;

impl Delivery {
    /// A refused ticket may be tried once more after a change (digest `desired`); one that is gone does not
    /// come back by that.
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

    pub const fn until(&self) -> Option<Timestamp> {
        match self {
            Self::Waiting { until, .. } => Some(*until),
            Self::Due | Self::Parked { .. } => None,
        }
    }

    /// The last failure, if known.
    pub const fn noted_at(&self) -> Option<Timestamp> {
        match self {
            Self::Due => None,
            Self::Waiting { since, .. } => *since,
            Self::Parked { since, .. } => Some(*since),
        }
    }

    /// The cause for which it is parked, if it may be the tracker's: the tracker may come to accept it.
    pub fn cause(&self) -> Option<(Reason, &str)> {
        let is_own = |reason| matches!(reason, Reason::Gone | Reason::Unmarked | Reason::Touched);
        match self {
            Self::Parked { last, .. } if !is_own(last.reason) => Some((last.reason, &last.detail)),
            _ => None,
        }
    }

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

    /// The wait is drawn from 0 to a bound that doubles (full jitter: waiting deliveries do not come back
    /// together), and never ends before the time that the tracker named.
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

    /// A probe found that the outage goes on. That does not count as an attempt, so no outage parks a ticket.
    #[must_use]
    pub fn postponed(self, failure: Failure, now: Timestamp) -> Self {
        Self::Waiting { attempts: self.attempts(), until: now, since: Some(now), last: failure }
    }
}

fn bound(attempts: u32, settings: &RetrySettings) -> u64 {
    let longest = u64::from(settings.longest_wait_seconds) * 1000;
    let doubled = 1_u64.checked_shl(attempts.saturating_sub(1)).unwrap_or(u64::MAX);
    u64::from(settings.wait_ms).saturating_mul(doubled).min(longest)
}

/// The time that an answer names for the next request, by this machine's clock. `header` takes lower-case
/// names. `Retry-After` counts first: seconds or a date (RFC 9110, §10.2.3). Else, if `x-ratelimit-remaining`
/// is 0, the reset: seconds since 1970 on GitHub, a date on Jira (docs/formats.md, "Trackers"). Measured from
/// the answer's own `Date`, in case this clock is wrong.
pub fn named_wait<'h>(header: impl Fn(&str) -> Option<&'h str>, now: Timestamp) -> Option<Timestamp> {
    let date = |text: &str| rfc2822::parse(text).ok().map(|date| date.timestamp());
    let sent_at = header("date").and_then(date).unwrap_or(now);
    let here = |there: Timestamp| moment::after(now, moment::between(sent_at, there));
    if let Some(text) = header("retry-after").map(str::trim) {
        let seconds =
            text.parse::<u64>().ok().map(|seconds| moment::after(now, seconds.saturating_mul(1000)));
        if let Some(until) = seconds.or_else(|| date(text).map(here)) {
            return Some(until);
        }
    }
    let is_used_up = header("x-ratelimit-remaining").is_some_and(|count| count.trim() == "0");
    let reset = header("x-ratelimit-reset").filter(|_| is_used_up)?.trim();
    let moment = match reset.parse::<i64>() {
        Ok(seconds) => moment::at(seconds.saturating_mul(1000)),
        Err(_) => reset.parse().ok()?,
    };
    Some(here(moment))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter(pub u64);

pub type Chance<'d> = dyn FnMut() -> Jitter + Send + 'd;

impl Jitter {
    pub fn up_to(self, most: u64) -> u64 {
        let scaled = (u128::from(self.0) * (u128::from(most) + 1)) >> 64;
        u64::try_from(scaled).unwrap_or(most)
    }
}

/// `retry:` of a tracker in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, expecting = "a mapping with keys such as `attempts` and `wait_ms`")]
pub struct RetrySettings {
    /// Attempts before a delivery is parked. At least 1.
    pub attempts: u32,
    /// The longest first wait; each wait is at most twice the one before.
    pub wait_ms: u32,
    pub longest_wait_seconds: u32,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { attempts: 8, wait_ms: 1000, longest_wait_seconds: 300 }
    }
}

#[cfg(test)]
mod cases;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_name_a_moment() {
        let now = Timestamp::from_second(1_700_000_000).unwrap();
        // This clock is ten seconds slow.
        let date = ("date", "Tue, 14 Nov 2023 22:13:30 GMT");
        for (headers, seconds) in [
            (&[][..], None),
            (&[("retry-after", "60")], Some(60)),
            (&[("retry-after", " 0 ")], Some(0)),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "Tue, 14 Nov 2023 22:14:20 GMT")], Some(60)),
            (&[("retry-after", "Tue, 14 Nov 2023 22:14:20 GMT"), date], Some(50)),
            (&[("retry-after", "Tue, 14 Nov 2023 22:00:00 GMT")], Some(0)),
            (&[("x-ratelimit-reset", "1700000300")], None),
            (&[("x-ratelimit-remaining", "3"), ("x-ratelimit-reset", "1700000300")], None),
            (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1700000300")], Some(300)),
            (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1700000300"), date], Some(290)),
            (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "2023-11-14T22:14:20Z")], Some(60)),
            (&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "later")], None),
            (
                &[("retry-after", "5"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1700000300")],
                Some(5),
            ),
        ] {
            let header = |name: &str| headers.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
            let until = named_wait(header, now).map(|until| until.as_second() - now.as_second());
            assert_eq!(until, seconds, "{headers:?}");
        }
        let endless = named_wait(|name| (name == "retry-after").then_some("18446744073709551615"), now);
        assert_eq!(endless, Some(Timestamp::MAX));
    }

    #[test]
    fn covers_the_whole_range() {
        for (draw, most, expected) in [
            (0, 10, 0),
            (u64::MAX, 10, 10),
            (u64::MAX / 2, 9, 4),
            (u64::MAX / 2 + 1, 9, 5),
            (u64::MAX, u64::MAX, u64::MAX),
        ] {
            assert_eq!(Jitter(draw).up_to(most), expected);
        }
    }
}
