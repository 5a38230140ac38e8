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

/// The memory of sync about trackers: a store with transactions, shared by all processes of a machine.
/// Deleting it loses nothing that the markers in tickets cannot bring back. Every implementation passes the
/// suite in `ledger/conformance_cases`.
pub trait Ledger: Send {
    fn read(&mut self) -> Result<Box<dyn LedgerReader + '_>>;

    /// Begins a transaction, the only one of all processes; what is not committed is undone.
    fn write(&mut self) -> Result<Box<dyn LedgerWriter + '_>>;

    /// Lets others see that this process lives while it holds the lease `number` on `name`: from before that
    /// lease is committed until [`Ledger::unmark_alive`] or the end of the process, however it ends. `false`
    /// where another process does so for that number, and is about to take that lease: then it must not be
    /// taken. A store that cannot show it says `true`; then leases have to lapse.
    fn mark_alive(&mut self, _name: &str, _number: u64) -> Result<bool> {
        Ok(true)
    }

    /// Ends that; nothing happens where there is no sign.
    fn unmark_alive(&mut self, _name: &str) -> Result<()> {
        Ok(())
    }

    /// Returns whether the holder of the lease is certainly dead, so that nobody need wait for it to lapse.
    fn is_holder_dead(&mut self, _name: &str, _number: u64) -> Result<bool> {
        Ok(false)
    }
}

/// The reading side of a transaction. Every method fails when the store does, or holds what cannot be read.
pub trait LedgerReader {
    fn link(&self, tracker: &TrackerName, marker: &Marker) -> Result<Option<Link>>;
    /// All tickets of a tracker, in the order of their markers.
    fn links(&self, tracker: &TrackerName) -> Result<Vec<Link>>;
    fn projected(&self, tracker: &TrackerName, marker: &Marker) -> Result<Option<Ticket>>;
    /// All requests that were begun and not ended, in the order of their markers.
    fn intents(&self, tracker: &TrackerName) -> Result<Vec<Intent>>;
    /// The delivery of a ticket; due where nothing is known.
    fn delivery(&self, tracker: &TrackerName, marker: &Marker) -> Result<Delivery>;
    /// All deliveries that are waiting or parked, in the order of their markers.
    fn deliveries(&self, tracker: &TrackerName) -> Result<Vec<(Marker, Delivery)>>;
    fn record(&self, tracker: &TrackerName) -> Result<TrackerRecord>;
    fn lease(&self, name: &str) -> Result<Option<Lease>>;
    fn breaker(&self, scope: &Scope) -> Result<Option<Breaker>>;
    /// All breakers that are not as they were at the beginning, in the order of their scopes as text.
    fn breakers(&self) -> Result<Vec<(Scope, Breaker)>>;
    fn pace(&self, scope: &Scope) -> Result<Option<Pace>>;
    /// All paces, in the order of their scopes as text.
    fn paces(&self) -> Result<Vec<(Scope, Pace)>>;
}

pub trait LedgerWriter: LedgerReader {
    /// Links a ticket, in the place of a link that there was. What the ticket says is only kept where
    /// `projected` is given, which then has the link's digest. A ticket that belongs to another artifact is
    /// refused ([`ErrorKind::LinkedElsewhere`]).
    fn put_link(&mut self, link: &Link, projected: Option<&Ticket>) -> Result<()>;
    fn remove_link(&mut self, tracker: &TrackerName, marker: &Marker) -> Result<()>;
    fn put_intent(&mut self, intent: &Intent) -> Result<()>;
    fn remove_intent(&mut self, tracker: &TrackerName, marker: &Marker) -> Result<()>;
    fn put_delivery(&mut self, tracker: &TrackerName, marker: &Marker, delivery: &Delivery) -> Result<()>;
    fn put_record(&mut self, tracker: &TrackerName, record: &TrackerRecord) -> Result<()>;
    /// Sets aside all that is known of the tickets of a tracker in the target `from`, and takes up what was
    /// set aside for `to`.
    fn switch_target(&mut self, tracker: &TrackerName, from: &str, to: &str) -> Result<()>;
    fn put_lease(&mut self, lease: &Lease) -> Result<()>;
    /// Notes a breaker; one that is as at the beginning is forgotten.
    fn put_breaker(&mut self, scope: &Scope, breaker: &Breaker) -> Result<()>;
    /// Notes a pace; one that is as at the beginning is forgotten.
    fn put_pace(&mut self, scope: &Scope, pace: &Pace) -> Result<()>;
    fn commit(self: Box<Self>) -> Result<()>;
}

/// Fails where `lease` is not the one that counts any more: asked first in every transaction that writes for
/// its holder, so that two workers never replay one intent.
pub fn check_lease(ledger: &dyn LedgerReader, lease: &Lease) -> Result<()> {
    lease.check(ledger.lease(&lease.name)?.as_ref())
}

/// A request that is about to be made: written down durably **before** it is made, taken away in the
/// transaction that writes down its outcome. One that is found later, by another process or after a timeout,
/// is in doubt: nobody knows whether the tracker did it, and it is looked up before anything else is done
/// (docs/design.md, "Tickets"). There is at most one for each ticket.
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
    /// A new ticket: the one request that must not be made twice.
    Create,
    /// A change; to do it again does no harm.
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

/// That an artifact has a ticket in a tracker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub tracker: TrackerName,
    pub marker: Marker,
    pub remote: RemoteTicket,
    /// The digest of what the ticket is known to say; `None` where it was only found.
    pub digest: Option<TicketDigest>,
    pub linked_at: Timestamp,
}

/// The right to work on what `name` stands for, for a while. Its number grows with each holder and never
/// shrinks: it decides who may write, the clock only when somebody else may take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub name: String,
    pub holder: String,
    /// Its fencing number, from 1.
    pub number: u64,
    pub until: Timestamp,
}

/// A lease that ends later than this after now, in milliseconds, and later than the one that is asked for, is
/// of a clock that was set back. Processes ask for different lengths, none of which is longer: a short one
/// must not take a long one for such.
const LONGEST_MS: u64 = 10 * 60 * 1000;

impl Lease {
    /// The lease on `name` for `holder`, where `current` is the one that is kept. Whoever has it already
    /// keeps its number. `Err` with that of another holder.
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

    /// The lease on `name` for `holder`, whoever has it: for when it is known that its holder is no more.
    pub fn take_over(current: Option<Self>, name: &str, holder: &str, now: Timestamp, for_ms: u64) -> Self {
        let number = current.map_or(1, |current| current.number.saturating_add(1));
        Self { name: name.to_owned(), holder: holder.to_owned(), number, until: moment::after(now, for_ms) }
    }

    /// Returns whether somebody has it now, and it is not of a clock that was set back.
    pub fn is_kept(&self, now: Timestamp) -> bool {
        now < self.until && self.until <= moment::after(now, LONGEST_MS)
    }

    /// The same lease, given back: anybody may take it now. Its number stays, so that the next is higher.
    #[must_use]
    pub fn released(self, now: Timestamp) -> Self {
        Self { until: self.until.min(now), ..self }
    }

    /// The error for whoever wants it while its holder has it.
    pub fn held(self) -> Error {
        let message = format!(
            "`{}` works on `{}` until {:.0}, longer if it has more to do: wait for it, or end that process",
            self.holder, self.name, self.until
        );
        Error::new(ErrorKind::Held { holder: self.holder, until: self.until }, message)
    }

    /// Fails where `current` is another one; it is none where the ledger knows none.
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
    /// The repository or project that the tickets are in, as the tracker itself names it; renaming does not
    /// change it.
    pub target: Option<String>,
    /// The place that the configuration gave for that target when the tracker named it.
    pub address: Option<String>,
    pub asked_at: Option<Timestamp>,
    /// The time at which the last complete listing of its tickets began.
    pub listed_at: Option<Timestamp>,
    pub created_at: Option<Timestamp>,
    /// A digest of the configuration at the last delivery: after a change, what was refused may be accepted.
    pub configuration: Option<String>,
}

/// The time for which a tracker's answer holds, which target it is, in milliseconds: a day.
const TARGET_HOLDS_MS: u64 = 24 * 60 * 60 * 1000;

impl TrackerRecord {
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
