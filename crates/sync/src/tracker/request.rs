//! What is asked of a tracker.

use super::Condition;
use crate::ticket::{RemoteTicket, Ticket};

/// A ticket to be made. Its marker goes along in the same request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creation {
    /// What it should say.
    pub ticket: Ticket,
    /// The ticket that it hangs below, where that is known.
    pub parent: Option<RemoteTicket>,
}

/// A ticket to be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where it is.
    pub remote: RemoteTicket,
    /// What it should say.
    pub desired: Ticket,
    /// What it was last made to say, where that is known: labels that are ours no longer are taken away.
    pub before: Option<Ticket>,
    /// The ticket that it hangs below, where that is known.
    pub parent: Option<RemoteTicket>,
    /// What must be true of the ticket.
    pub condition: Condition,
}

/// The kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// [`Tracker::target`](super::Tracker::target).
    Target,
    /// [`Tracker::create`](super::Tracker::create).
    Create,
    /// [`Tracker::update`](super::Tracker::update).
    Update,
    /// [`Tracker::read`](super::Tracker::read).
    Read,
    /// [`Tracker::list`](super::Tracker::list).
    List,
}
