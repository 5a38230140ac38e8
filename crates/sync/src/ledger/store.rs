//! The traits of ledgers.

use std::path::PathBuf;

use super::{Fenced, Intent, Lease, Link, TrackerRecord};
use crate::{
    TrackerName,
    breaker::{Breaker, Scope},
    pace::Pace,
    retry::Delivery,
    ticket::{Marker, Ticket},
};

/// The memory of sync about trackers: a store with transactions, shared by all processes of a machine.
/// Deleting it loses nothing that the markers in tickets cannot bring back. Every implementation passes the
/// suite in `ledger/conformance_cases`.
pub trait Ledger: Send {
    /// Reads a state of the ledger that no writer changes meanwhile.
    fn read(&mut self) -> Result<Box<dyn LedgerReader + '_>, LedgerError>;

    /// Begins a transaction; from here on no other one can begin, in this process or another. What is not
    /// committed is undone.
    fn write(&mut self) -> Result<Box<dyn LedgerWriter + '_>, LedgerError>;

    /// Lets others see that this process lives while it holds the lease `number` on `name`: from before that
    /// lease is committed until [`Ledger::unmark_alive`] or the end of the process, however it ends. `false`
    /// where another process does so for that number, and is about to take that lease: then it must not be
    /// taken. A store that cannot show it says `true`; then leases have to lapse.
    fn mark_alive(&mut self, _name: &str, _number: u64) -> Result<bool, LedgerError> {
        Ok(true)
    }

    /// Ends that; nothing happens where there is no sign.
    fn unmark_alive(&mut self, _name: &str) -> Result<(), LedgerError> {
        Ok(())
    }

    /// Returns whether the holder of the lease `number` on `name` is certainly dead, so that nobody need wait
    /// for it to lapse.
    fn is_holder_dead(&mut self, _name: &str, _number: u64) -> Result<bool, LedgerError> {
        Ok(false)
    }
}

/// The reading side of a transaction. Every method fails when the store does, or holds what cannot be read.
pub trait LedgerReader {
    fn link(&self, tracker: &TrackerName, marker: &Marker) -> Result<Option<Link>, LedgerError>;
    /// All tickets of a tracker, in the order of their markers.
    fn links(&self, tracker: &TrackerName) -> Result<Vec<Link>, LedgerError>;
    /// Returns what the ticket of an artifact was last made to say.
    fn projected(&self, tracker: &TrackerName, marker: &Marker) -> Result<Option<Ticket>, LedgerError>;
    /// All requests that were begun and not ended, in the order of their markers.
    fn intents(&self, tracker: &TrackerName) -> Result<Vec<Intent>, LedgerError>;
    /// The delivery of a ticket; due where nothing is known.
    fn delivery(&self, tracker: &TrackerName, marker: &Marker) -> Result<Delivery, LedgerError>;
    /// All deliveries that are waiting or parked, in the order of their markers.
    fn deliveries(&self, tracker: &TrackerName) -> Result<Vec<(Marker, Delivery)>, LedgerError>;
    fn record(&self, tracker: &TrackerName) -> Result<TrackerRecord, LedgerError>;
    /// The lease on `name`, whether or not it is over.
    fn lease(&self, name: &str) -> Result<Option<Lease>, LedgerError>;
    fn breaker(&self, scope: &Scope) -> Result<Option<Breaker>, LedgerError>;
    /// All breakers that are not as they were at the beginning, in the order of their scopes as text.
    fn breakers(&self) -> Result<Vec<(Scope, Breaker)>, LedgerError>;
    fn pace(&self, scope: &Scope) -> Result<Option<Pace>, LedgerError>;
    /// All paces, in the order of their scopes as text.
    fn paces(&self) -> Result<Vec<(Scope, Pace)>, LedgerError>;
}

/// The writing side of a transaction. Every method fails when the store does.
pub trait LedgerWriter: LedgerReader {
    /// Links a ticket, in the place of a link that there was. What the ticket says is only kept where
    /// `projected` is given, which then has the link's digest. A ticket that belongs to another artifact is
    /// refused ([`LedgerError::LinkedElsewhere`]).
    fn put_link(&mut self, link: &Link, projected: Option<&Ticket>) -> Result<(), LedgerError>;
    fn remove_link(&mut self, tracker: &TrackerName, marker: &Marker) -> Result<(), LedgerError>;
    fn put_intent(&mut self, intent: &Intent) -> Result<(), LedgerError>;
    fn remove_intent(&mut self, tracker: &TrackerName, marker: &Marker) -> Result<(), LedgerError>;
    /// Notes a delivery; one that is due is forgotten.
    fn put_delivery(
        &mut self,
        tracker: &TrackerName,
        marker: &Marker,
        delivery: &Delivery,
    ) -> Result<(), LedgerError>;
    fn put_record(&mut self, tracker: &TrackerName, record: &TrackerRecord) -> Result<(), LedgerError>;
    /// Sets aside all that is known of the tickets of a tracker in the target `from`, and takes up what was
    /// set aside for `to`.
    fn switch_target(&mut self, tracker: &TrackerName, from: &str, to: &str) -> Result<(), LedgerError>;
    fn put_lease(&mut self, lease: &Lease) -> Result<(), LedgerError>;
    /// Notes a breaker; one that is as at the beginning is forgotten.
    fn put_breaker(&mut self, scope: &Scope, breaker: &Breaker) -> Result<(), LedgerError>;
    /// Notes a pace; one that is as at the beginning is forgotten.
    fn put_pace(&mut self, scope: &Scope, pace: &Pace) -> Result<(), LedgerError>;
    fn commit(self: Box<Self>) -> Result<(), LedgerError>;
}

/// Fails where `lease` is not the one that counts any more: asked first in every transaction that writes for
/// its holder, so that two workers never replay one intent.
pub fn check_lease(ledger: &dyn LedgerReader, lease: &Lease) -> Result<(), LedgerError> {
    Ok(lease.check(ledger.lease(&lease.name)?.as_ref())?)
}

#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("the ledger of sync could not {intent}")]
    Storage {
        /// The action that was to be done.
        intent: &'static str,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("the ledger of sync is busy: another process holds it; try again when that has ended")]
    Busy,
    #[error(
        "the ledger of sync holds a {what} that cannot be read: {reason}; it can be deleted, since tickets are found again by \
         their markers (`stepmark sync adopt`), and stores of memory are asked what they hold"
    )]
    Corrupt {
        /// The kind of thing that it should be.
        what: &'static str,
        reason: String,
    },
    #[error("`{}` was written by a newer stepmark (its tables have version {found}, this one knows {known}): update stepmark", .path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("{key} is the ticket of another artifact")]
    LinkedElsewhere {
        /// The name by which people know the ticket.
        key: String,
        marker: Marker,
        owner: Marker,
    },
    #[error(transparent)]
    Fenced(#[from] Fenced),
}
