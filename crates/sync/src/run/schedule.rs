//! The time at which the next pass begins.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::RunSettings;
use crate::{
    configuration::TrackerSettings,
    moment,
    worker::{ActionOutcome, Deferred, Report},
};

/// The time at which the next pass begins: a value that follows from what has happened. It owns no memory,
/// however much happens (it is `Copy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    settings: RunSettings,
    /// The first and the last change that no pass has seen.
    changed: Option<(Instant, Instant)>,
    round: Instant,
    delivery: Option<Instant>,
    /// The time at which a pass may be made again, after some failed.
    not_before: Instant,
    failures: u32,
}

/// The time that a run waits after a pass that failed: the project or the ledger could not be read. Twice as
/// long each time, up to the time between two rounds.
const FIRST_WAIT: Duration = Duration::from_secs(1);

impl Schedule {
    pub(super) const fn new(settings: RunSettings, now: Instant) -> Self {
        Self { settings, changed: None, round: now, delivery: None, not_before: now, failures: 0 }
    }

    pub(super) fn changed(&mut self, now: Instant) {
        let first = self.changed.map_or(now, |(first, _)| first);
        self.changed = Some((first, now));
    }

    pub(super) fn due(&self) -> Instant {
        let change = self.changed.map(|(first, last)| {
            let quiet = Duration::from_millis(self.settings.quiet_ms.into());
            let longest = Duration::from_millis(self.settings.longest_quiet_ms.into());
            (last + quiet).min(first + longest)
        });
        [change, self.delivery].into_iter().flatten().fold(self.round, Instant::min).max(self.not_before)
    }

    /// A pass begins: it sees whatever has changed until now.
    pub(super) fn pass_begins(&mut self) {
        self.changed = None;
        self.delivery = None;
    }

    /// A pass has ended; the next delivery is due after `delivery`.
    pub(super) fn passed(&mut self, now: Instant, delivery: Option<Duration>) {
        // A wait beyond the next round needs no note of its own, and one of no time would never let anything
        // else happen.
        let least = Duration::from_millis(self.settings.quiet_ms.max(100).into());
        self.delivery =
            delivery.map(|wait| now + wait.clamp(least, least.max(self.settings.pass_interval())));
        self.round = now + self.settings.pass_interval();
        self.not_before = now;
        self.failures = 0;
    }

    pub(super) fn failed(&mut self, now: Instant) {
        let doubled = 1_u32.checked_shl(self.failures).unwrap_or(u32::MAX);
        let wait = FIRST_WAIT.saturating_mul(doubled).min(self.settings.pass_interval());
        self.failures = self.failures.saturating_add(1);
        self.not_before = now + wait;
        self.round = self.not_before;
    }
}

/// Returns how long after `now` something of `report` can be tried again; `None` where nothing waits for a
/// time.
pub(super) fn next_due(report: &Report, settings: &TrackerSettings, now: Timestamp) -> Option<Duration> {
    if report.is_followed_by_more() {
        return Some(Duration::ZERO);
    }
    let moments = report.entries.iter().filter_map(|entry| due(&entry.outcome, settings, now));
    moments.chain(report.listing_due).min().map(|moment| Duration::from_millis(moment::between(now, moment)))
}

fn due(outcome: &ActionOutcome, settings: &TrackerSettings, now: Timestamp) -> Option<Timestamp> {
    match outcome {
        ActionOutcome::Done { .. } | ActionOutcome::Found { .. } | ActionOutcome::NotThere => None,
        // A failure that the breaker is to judge may be tried as soon as that allows; where it is open, the
        // next pass hears until when.
        ActionOutcome::Failed { delivery, failure } => {
            delivery.until().map(|until| failure.wait_until.map_or(until, |wait| until.max(wait)))
        }
        ActionOutcome::InDoubt { failure } => {
            let own = moment::after(now, u64::from(settings.retry.wait_ms));
            Some(failure.wait_until.map_or(own, |wait| own.max(wait)))
        }
        ActionOutcome::Deferred(held) => of_held(held, settings, now),
    }
}

fn of_held(held: &Deferred, settings: &TrackerSettings, now: Timestamp) -> Option<Timestamp> {
    match held {
        Deferred::Waiting { until, .. }
        | Deferred::Refused { until, .. }
        | Deferred::TooFast { until }
        | Deferred::Contended { until }
        | Deferred::Unlisted { until } => Some(*until),
        Deferred::NotListed(failure) | Deferred::NoTarget(failure) => {
            let own = moment::after(now, u64::from(settings.breaker.wait_seconds) * 1000);
            Some(failure.wait_until.unwrap_or(own))
        }
        Deferred::Stale | Deferred::Stopped => Some(now),
        // The parent's own wait counts; the others wait for a person or a change.
        Deferred::NoParent { .. }
        | Deferred::Parked { .. }
        | Deferred::Unknown
        | Deferred::LinkedElsewhere { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn schedule() -> (Schedule, Instant) {
        let now = Instant::now();
        let settings = RunSettings {
            pass_seconds: 300,
            quiet_ms: 500,
            longest_quiet_ms: 5000,
            ..RunSettings::default()
        };
        (Schedule::new(settings, now), now)
    }

    #[test]
    fn looks_at_everything_at_once_and_then_from_time_to_time() {
        let (mut schedule, now) = schedule();
        assert_eq!(schedule.due(), now);
        schedule.pass_begins();
        schedule.passed(now + SECOND, None);
        assert_eq!(schedule.due(), now + 301 * SECOND);
    }

    #[test]
    fn a_change_is_delivered_when_it_is_quiet_or_has_waited_long_enough() {
        let (mut schedule, now) = schedule();
        schedule.passed(now, None);
        for tenth in 0..100 {
            schedule.changed(now + tenth * SECOND / 10);
        }
        assert_eq!(schedule.due(), now + 5 * SECOND, "the first change has waited");
        schedule.pass_begins();
        schedule.passed(now + 10 * SECOND, None);
        schedule.changed(now + 11 * SECOND);
        assert_eq!(schedule.due(), now + 11 * SECOND + SECOND / 2);
    }

    #[test]
    fn a_delivery_that_is_due_wakes_and_never_spins() {
        let (mut schedule, now) = schedule();
        for (wait, due) in
            [(30 * SECOND, 30 * SECOND), (Duration::ZERO, SECOND / 2), (9000 * SECOND, 300 * SECOND)]
        {
            schedule.passed(now, Some(wait));
            assert_eq!(schedule.due(), now + due);
        }
    }

    #[test]
    fn what_changes_during_a_pass_is_seen_by_the_next_one() {
        let (mut schedule, now) = schedule();
        schedule.pass_begins();
        schedule.changed(now + SECOND);
        schedule.passed(now + 2 * SECOND, None);
        assert_eq!(schedule.due(), now + 2 * SECOND, "it has been quiet already");
    }

    #[test]
    fn passes_that_fail_come_more_and_more_rarely() {
        let (mut schedule, now) = schedule();
        let mut waits = Vec::new();
        for _ in 0..40 {
            schedule.failed(now);
            schedule.changed(now);
            waits.push((schedule.due() - now).as_secs());
        }
        assert_eq!(&waits[..10], [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
        assert_eq!(waits[39], 300);
        schedule.passed(now, None);
        schedule.changed(now);
        assert_eq!(schedule.due(), now + SECOND / 2);
    }

    proptest! {
        /// However events fall, a change is delivered within the longest quiet, and something is always to
        /// come within a round.
        #[test]
        fn nothing_waits_forever(gaps in proptest::collection::vec(0_u64..2000, 1..200)) {
            let (mut schedule, start) = schedule();
            schedule.passed(start, None);
            let mut now = start;
            for gap in gaps {
                now += Duration::from_millis(gap);
                schedule.changed(now);
            }
            let (first, last) = schedule.changed.unwrap();
            prop_assert!(schedule.due() <= first + 5 * SECOND && schedule.due() <= last + SECOND / 2);
            schedule.pass_begins();
            prop_assert!(schedule.due() <= start + 300 * SECOND);
        }
    }
}
