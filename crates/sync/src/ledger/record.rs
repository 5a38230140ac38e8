//! The record of a tracker as a whole.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::moment;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrackerRecord {
    /// The repository or project that the tickets are in, as the tracker itself names it; renaming does not
    /// change it.
    pub target: Option<String>,
    /// The place that the configuration gave for that target when the tracker named it.
    pub address: Option<String>,
    /// The time at which the tracker was last asked for its target.
    pub asked_at: Option<Timestamp>,
    /// The time at which the last complete listing of its tickets began.
    pub listed_at: Option<Timestamp>,
    /// The time at which a ticket was last made there from this ledger.
    pub created_at: Option<Timestamp>,
    /// A digest of how the tracker was configured when something was last delivered: what it refused may be
    /// accepted after a change.
    pub configuration: Option<String>,
}

/// The time for which a tracker's answer holds, which target it is, in milliseconds: a day.
const TARGET_HOLDS_MS: u64 = 24 * 60 * 60 * 1000;

impl TrackerRecord {
    /// Returns whether the tracker is to be asked which target it is, before anything is sent to `address`.
    pub fn wants_target(&self, address: &str, now: Timestamp) -> bool {
        let is_known = self.target.is_some() && self.address.as_deref() == Some(address);
        let is_fresh = |at: Timestamp| at <= now && moment::between(at, now) < TARGET_HOLDS_MS;
        !is_known || !self.asked_at.is_some_and(is_fresh)
    }

    /// The place of the remembered tickets, if the configuration names another place, `address`.
    pub fn elsewhere(&self, address: &str) -> Option<&str> {
        self.address.as_deref().filter(|own| *own != address)
    }

    /// Returns whether the tracker is to be asked although nothing is to be changed there.
    pub fn wants_look(&self, address: &str, lag_ms: u64, now: Timestamp) -> bool {
        self.elsewhere(address).is_some() || self.listing_due(lag_ms, now).is_some_and(|due| due <= now)
    }

    /// The same after a complete listing that began at `begun_at`. A creation that a clock which was ahead
    /// has noted was before it.
    #[must_use]
    pub fn listed(self, begun_at: Timestamp) -> Self {
        let created_at = self.created_at.filter(|created_at| moment::may_be_past(*created_at, begun_at));
        Self { listed_at: Some(begun_at), created_at, ..self }
    }

    /// The time at which its tickets are to be listed again, to find those that another machine made at the
    /// same time: as late after the last creation as its list may lag behind. `None` where that was done.
    pub fn listing_due(&self, lag_ms: u64, now: Timestamp) -> Option<Timestamp> {
        let created_at = self.created_at?;
        if !moment::may_be_past(created_at, now) {
            // The clock was set back: nobody knows how long ago that was.
            return Some(now);
        }
        let shown_at = moment::after(created_at, lag_ms);
        let is_done = self.listed_at.is_some_and(|at| at >= shown_at && at <= now);
        (!is_done).then_some(shown_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Option<Timestamp> {
        Some(Timestamp::from_second(1_700_000_000 + second).unwrap())
    }

    #[test]
    fn a_creation_is_followed_by_a_listing_that_shows_it() {
        let of = |listed: Option<i64>, created: Option<i64>, now: i64| {
            let record = TrackerRecord {
                listed_at: listed.and_then(at),
                created_at: created.and_then(at),
                ..Default::default()
            };
            record.listing_due(90_000, at(now).unwrap())
        };
        assert_eq!(of(None, None, 0), None, "nothing was made");
        assert_eq!(of(Some(0), Some(10), 20), at(100));
        assert_eq!(of(Some(99), Some(10), 99), at(100), "too early to show it");
        assert_eq!(of(Some(100), Some(10), 100), None);
        assert_eq!(of(Some(5000), Some(5010), 0), at(0), "the clock was set back");
        assert_eq!(of(Some(0), Some(10), 5), at(100), "clocks of two processes differ");
        let later = TrackerRecord { created_at: at(5010), ..Default::default() }.listed(at(1).unwrap());
        assert_eq!(later.listing_due(90_000, at(2).unwrap()), None, "once is enough");
    }

    #[test]
    fn a_target_is_asked_for_once_a_day_and_where_the_address_changes() {
        let (target, address) = (Some("1".to_owned()), Some("a".to_owned()));
        let record = TrackerRecord { target, address, asked_at: at(0), ..Default::default() };
        let wants = |address: &str, second: i64| record.wants_target(address, at(second).unwrap());
        assert!(!wants("a", 1) && wants("b", 1) && wants("a", 100_000) && wants("a", -1));
        assert!(TrackerRecord::default().wants_target("a", at(0).unwrap()));
        assert_eq!((record.elsewhere("b"), record.elsewhere("a")), (Some("a"), None));
        assert_eq!(TrackerRecord::default().elsewhere("b"), None);
    }
}
