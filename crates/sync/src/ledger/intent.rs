//! The link of a ticket, and the intent of a request that was begun.

use std::{fmt, str::FromStr};

use jiff::Timestamp;

use crate::{
    TrackerName,
    ticket::{Marker, RemoteTicket, TicketDigest},
};

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
