//! The traits of ledgers.

use std::{fmt, str::FromStr};

use crate::{
    Error, ErrorKind, Result, TrackerName,
    breaker::{Breaker, Scope},
    moment,
    pace::Pace,
    retry::Delivery,
    ticket::{Marker, RemoteTicket, Ticket, TicketDigest},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Shared by all processes of a machine. Deleting it loses nothing that the markers in tickets cannot bring
/// back. Every implementation passes the suite in `ledger/conformance_cases`.
pub trait Ledger: Send {
    fn read(&mut self) -> Result<Box<dyn LedgerReader + '_>>;

    /// The only writer of all processes; what is not committed is undone.
    fn write(&mut self) -> Result<Box<dyn LedgerWriter + '_>>;

    /// Shows others that this process lives while it holds the lease `number` on `name`: from before the
    /// lease is committed until [`Ledger::unmark_alive`] or the end of the process. `false` if another
    /// process is about to take that lease. A store that cannot show it says `true`; then leases have to
    /// lapse.
    fn mark_alive(&mut self, _name: &str, _number: u64) -> Result<bool> {
        Ok(true)
    }

    fn unmark_alive(&mut self, _name: &str) -> Result<()> {
        Ok(())
    }

    /// Certainly dead: nobody need wait for the lease to lapse.
    fn is_holder_dead(&mut self, _name: &str, _number: u64) -> Result<bool> {
        Ok(false)
    }
}

/// Every method fails if the store does, or holds what cannot be read.
pub trait LedgerReader {
    fn link(&self, tracker: &TrackerName, marker: &Marker) -> Result<Option<Link>>;
    /// In the order of their markers.
    fn links(&self, tracker: &TrackerName) -> Result<Vec<Link>>;
    fn projected(&self, tracker: &TrackerName, marker: &Marker) -> Result<Option<Ticket>>;
    /// Begun and not ended, in the order of their markers.
    fn intents(&self, tracker: &TrackerName) -> Result<Vec<Intent>>;
    /// Due if nothing is known.
    fn delivery(&self, tracker: &TrackerName, marker: &Marker) -> Result<Delivery>;
    /// Waiting or parked, in the order of their markers.
    fn deliveries(&self, tracker: &TrackerName) -> Result<Vec<(Marker, Delivery)>>;
    fn record(&self, tracker: &TrackerName) -> Result<TrackerRecord>;
    fn lease(&self, name: &str) -> Result<Option<Lease>>;
    fn breaker(&self, scope: &Scope) -> Result<Option<Breaker>>;
    /// Those that differ from the default, in the order of their scopes as text.
    fn breakers(&self) -> Result<Vec<(Scope, Breaker)>>;
    fn pace(&self, scope: &Scope) -> Result<Option<Pace>>;
    /// In the order of their scopes as text.
    fn paces(&self) -> Result<Vec<(Scope, Pace)>>;
}

pub trait LedgerWriter: LedgerReader {
    /// Replaces an earlier link. `projected` is what the ticket says, with the link's digest. Refuses a
    /// ticket of another artifact ([`ErrorKind::LinkedElsewhere`]).
    fn put_link(&mut self, link: &Link, projected: Option<&Ticket>) -> Result<()>;
    fn remove_link(&mut self, tracker: &TrackerName, marker: &Marker) -> Result<()>;
    fn put_intent(&mut self, intent: &Intent) -> Result<()>;
    fn remove_intent(&mut self, tracker: &TrackerName, marker: &Marker) -> Result<()>;
    fn put_delivery(&mut self, tracker: &TrackerName, marker: &Marker, delivery: &Delivery) -> Result<()>;
    fn put_record(&mut self, tracker: &TrackerName, record: &TrackerRecord) -> Result<()>;
    /// Sets the tickets of the target `from` aside, and restores those that were set aside for `to`.
    fn switch_target(&mut self, tracker: &TrackerName, from: &str, to: &str) -> Result<()>;
    fn put_lease(&mut self, lease: &Lease) -> Result<()>;
    /// A default breaker is deleted.
    fn put_breaker(&mut self, scope: &Scope, breaker: &Breaker) -> Result<()>;
    /// A default pace is deleted.
    fn put_pace(&mut self, scope: &Scope, pace: &Pace) -> Result<()>;
    fn commit(self: Box<Self>) -> Result<()>;
}

/// Called first in every transaction that writes for the holder of `lease`, so that two workers never replay
/// one intent.
pub fn check_lease(ledger: &dyn LedgerReader, lease: &Lease) -> Result<()> {
    lease.check(ledger.lease(&lease.name)?.as_ref())
}

/// A request, stored durably **before** it is made and removed in the transaction that stores its outcome.
/// One that is found later is in doubt: the tracker may have done it, so it is looked up first
/// (docs/design.md, "Tickets"). At most one for each ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    pub tracker: TrackerName,
    pub marker: Marker,
    pub action: IntentAction,
    pub digest: TicketDigest,
    pub lease_number: u64,
    pub begun_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentAction {
    /// Must not be made twice.
    Create,
    /// Harmless to repeat.
    Update,
}

impl fmt::Display for IntentAction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Create => "create",
            Self::Update => "update",
        })
    }
}

impl FromStr for IntentAction {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "create" => Ok(Self::Create),
            "update" => Ok(Self::Update),
            _ => Err(format!("`{word}` is no action")),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub tracker: TrackerName,
    pub marker: Marker,
    pub remote: RemoteTicket,
    /// `None` if the ticket was only found.
    pub digest: Option<TicketDigest>,
    pub linked_at: Timestamp,
}

/// The right to work on `name`. Its number grows with each holder: it decides who may write; the clock only
/// decides when somebody else may take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub name: String,
    pub holder: String,
    /// Fencing number, from 1.
    pub number: u64,
    pub until: Timestamp,
}

/// A lease that ends later than this after now, and later than the one asked for, is of a clock that was set
/// back. No process asks for a longer one.
const LONGEST_MS: u64 = 10 * 60 * 1000;

impl Lease {
    /// The holder of `current` keeps its number. `Err` with the lease of another holder.
    pub fn acquire(
        current: Option<Self>,
        name: &str,
        holder: &str,
        now: Timestamp,
        length_ms: u64,
    ) -> Result<Self, Self> {
        let until = moment::after(now, length_ms);
        let latest = moment::after(now, length_ms.max(LONGEST_MS));
        let number = match current {
            Some(current) if current.holder == holder && now < current.until => current.number,
            Some(current) if now < current.until && current.until <= latest => {
                return Err(current);
            }
            Some(current) => current.number.saturating_add(1),
            None => 1,
        };
        Ok(Self { name: name.to_owned(), holder: holder.to_owned(), number, until })
    }

    pub fn take_over(current: Option<Self>, name: &str, holder: &str, now: Timestamp, for_ms: u64) -> Self {
        let number = current.map_or(1, |current| current.number.saturating_add(1));
        Self { name: name.to_owned(), holder: holder.to_owned(), number, until: moment::after(now, for_ms) }
    }

    /// Held now, and not by a clock that was set back.
    pub fn is_kept(&self, now: Timestamp) -> bool {
        now < self.until && self.until <= moment::after(now, LONGEST_MS)
    }

    /// Keeps the number, so that the next one is higher.
    #[must_use]
    pub fn released(self, now: Timestamp) -> Self {
        Self { until: self.until.min(now), ..self }
    }

    pub fn held(self) -> Error {
        let message = format!(
            "`{}` works on `{}` until {:.0}, longer if it has more to do: wait for it, or end that process",
            self.holder, self.name, self.until
        );
        Error::new(ErrorKind::Held { holder: self.holder, until: self.until }, message)
    }

    pub fn check(&self, current: Option<&Self>) -> Result<()> {
        let number = current.map_or(0, |current| current.number);
        let is_own = current.is_some_and(|current| current.holder == self.holder && number == self.number);
        if is_own {
            Ok(())
        } else {
            let (name, own) = (&self.name, self.number);
            Err(Error::new(
                ErrorKind::Fenced,
                format!(
                    "this process lost its right to work on `{name}` (its number is {own}, the current one {number}): it stops, and \
                     what it had begun is looked up by whoever goes on"
                ),
            ))
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrackerRecord {
    /// The repository or project by the id that the tracker gives it; it survives renaming.
    pub target: Option<String>,
    /// The address configured when the tracker named that target.
    pub address: Option<String>,
    pub asked_at: Option<Timestamp>,
    /// The begin of the last complete listing.
    pub listed_at: Option<Timestamp>,
    pub created_at: Option<Timestamp>,
    /// The digest of the configuration at the last delivery: after a change, what was refused may be
    /// accepted.
    pub configuration: Option<String>,
}

/// The tracker is asked which target it is once a day.
const TARGET_HOLDS_MS: u64 = 24 * 60 * 60 * 1000;

impl TrackerRecord {
    pub fn wants_target(&self, address: &str, now: Timestamp) -> bool {
        let is_known = self.target.is_some() && self.address.as_deref() == Some(address);
        let is_fresh = |at: Timestamp| at <= now && moment::between(at, now) < TARGET_HOLDS_MS;
        !is_known || !self.asked_at.is_some_and(is_fresh)
    }

    pub fn elsewhere(&self, address: &str) -> Option<&str> {
        self.address.as_deref().filter(|own| *own != address)
    }

    /// The tracker is asked even if there is nothing to change.
    pub fn wants_look(&self, address: &str, lag_ms: u64, now: Timestamp) -> bool {
        self.elsewhere(address).is_some() || self.listing_due(lag_ms, now).is_some_and(|due| due <= now)
    }

    /// After a complete listing. A creation stamped in the future by a wrong clock counts as earlier.
    #[must_use]
    pub fn listed(self, begun_at: Timestamp) -> Self {
        let created_at = self.created_at.filter(|created_at| moment::may_be_past(*created_at, begun_at));
        Self { listed_at: Some(begun_at), created_at, ..self }
    }

    /// The time of the next listing, which finds tickets that another machine made at the same time: the list
    /// may lag behind the last creation. `None` if it was done.
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

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn acquire(current: Option<&Lease>, holder: &str, second: i64) -> Result<Lease, Lease> {
        Lease::acquire(current.cloned(), "gh", holder, at(second), 60_000)
    }

    #[test]
    fn numbers_grow_with_each_holder() {
        let first = acquire(None, "a", 0).unwrap();
        assert_eq!((first.number, first.until), (1, at(60)));
        let kept = acquire(Some(&first), "a", 30).unwrap();
        assert_eq!((kept.number, kept.until), (1, at(90)));
        assert_eq!(acquire(Some(&kept), "b", 89), Err(kept.clone()));
        let taken = acquire(Some(&kept), "b", 90).unwrap();
        assert_eq!(taken.number, 2);
        let back = acquire(Some(&taken.clone().released(at(95))), "a", 95).unwrap();
        assert_eq!(back.number, 3);
        assert!(
            kept.check(Some(&taken)).is_err()
                && taken.check(Some(&taken)).is_ok()
                && kept.check(None).is_err()
        );
    }

    #[test]
    fn a_lease_of_the_dead_is_taken_over_under_another_number() {
        let first = acquire(None, "a", 0).unwrap();
        let taken = Lease::take_over(Some(first.clone()), "gh", "b", at(1), 60_000);
        assert_eq!((taken.number, taken.holder.as_str(), taken.until), (2, "b", at(61)));
        assert!(first.check(Some(&taken)).is_err());
    }

    #[test]
    fn a_lapsed_lease_comes_back_under_another_number() {
        let first = acquire(None, "a", 0).unwrap();
        assert_eq!(acquire(Some(&first), "a", 61).unwrap().number, 2);
    }

    #[test]
    fn who_asks_for_a_short_lease_heeds_a_long_one() {
        let long = Lease::acquire(None, "gh", "a", at(0), 600_000).unwrap();
        assert_eq!(Lease::acquire(Some(long.clone()), "gh", "b", at(1), 1), Err(long));
    }

    #[test]
    fn a_clock_that_was_set_back_keeps_nobody_out() {
        let first = acquire(None, "a", 100_000).unwrap();
        assert_eq!(acquire(Some(&first), "b", 0).unwrap().number, 2);
        assert!(first.is_kept(at(100_059)) && !first.is_kept(at(100_060)), "as long as it is given");
        assert!(!first.is_kept(at(0)), "nobody is shown at work who was there when the clock was ahead");
    }
}

#[cfg(test)]
mod record_tests {
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
