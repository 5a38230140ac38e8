//! Which ticket belongs to an artifact.

use jiff::Timestamp;

use crate::{
    TrackerName,
    ticket::{Marker, RemoteTicket, SourceDigest, TicketDigest},
};

/// That an artifact has a ticket in a tracker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The tracker.
    pub tracker: TrackerName,
    /// The artifact.
    pub marker: Marker,
    /// Its ticket.
    pub remote: RemoteTicket,
    /// What the ticket is known to say; `None` where it was only found.
    pub digest: Option<TicketDigest>,
    /// What the ticket that it says was made from; `None` where that is not known, and costs only time.
    pub source: Option<SourceDigest>,
    /// Since when this is known.
    pub linked_at: Timestamp,
}
