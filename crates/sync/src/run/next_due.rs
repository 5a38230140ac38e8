//! When a pass has something to do that the last one left.

use std::time::Duration;

use jiff::Timestamp;

use crate::{
    configuration::TrackerSettings,
    moment,
    worker::{Fate, Held, Report},
};

/// How long after `now` something of `report` can be tried again; `None` where nothing waits for a time.
pub(super) fn next_due(report: &Report, settings: &TrackerSettings, now: Timestamp) -> Option<Duration> {
    if report.is_followed_by_more() {
        return Some(Duration::ZERO);
    }
    let moments = report.entries.iter().filter_map(|entry| due(&entry.fate, settings, now));
    moments.chain(report.listing_due).min().map(|moment| Duration::from_millis(moment::between(now, moment)))
}

fn due(fate: &Fate, settings: &TrackerSettings, now: Timestamp) -> Option<Timestamp> {
    match fate {
        Fate::Done { .. } | Fate::Found { .. } | Fate::NotThere => None,
        // A failure that the breaker is to judge may be tried as soon as that allows; where it is open, the next pass hears until when.
        Fate::Failed { delivery, failure } => {
            delivery.until().map(|until| failure.wait_until.map_or(until, |wait| until.max(wait)))
        }
        Fate::InDoubt { failure } => {
            let own = moment::after(now, u64::from(settings.retry.wait_ms));
            Some(failure.wait_until.map_or(own, |wait| own.max(wait)))
        }
        Fate::Held(held) => of_held(held, settings, now),
    }
}

fn of_held(held: &Held, settings: &TrackerSettings, now: Timestamp) -> Option<Timestamp> {
    match held {
        Held::Waiting { until, .. }
        | Held::Refused { until, .. }
        | Held::TooFast { until }
        | Held::Contended { until }
        | Held::Unlisted { until } => Some(*until),
        Held::NotListed(failure) | Held::NoTarget(failure) => {
            let own = moment::after(now, u64::from(settings.breaker.wait_seconds) * 1000);
            Some(failure.wait_until.unwrap_or(own))
        }
        Held::Stale | Held::Stopped => Some(now),
        // The parent's own wait counts; the others wait for a person or a change.
        Held::NoParent { .. } | Held::Parked { .. } | Held::Unknown | Held::LinkedElsewhere { .. } => None,
    }
}
