//! Which ticket belongs to an artifact.

use jiff::Timestamp;

use crate::{
    TrackerName,
    ticket::{Marker, RemoteTicket, TicketDigest},
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
    /// Since when this is known.
    pub linked_at: Timestamp,
}
