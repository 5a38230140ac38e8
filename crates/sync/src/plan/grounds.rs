//! What a plan is made from.

use std::collections::BTreeMap;

use crate::{
    configuration::TrackerSettings,
    ledger::{Intent, LedgerError, LedgerReader, Link},
    ticket::{FieldDifference, Marker, Observed, Snapshot, Ticket, oldest_first},
};

/// What a plan is made from: values, and the ledger for what tickets were last made to say.
pub struct Grounds<'a> {
    /// The artifacts.
    pub snapshot: &'a Snapshot,
    /// The tracker.
    pub settings: &'a TrackerSettings,
    /// What is remembered.
    pub ledger: &'a dyn LedgerReader,
    /// What the tracker has, where it was asked.
    pub survey: Option<Survey<'a>>,
}

/// All tickets of a tracker that carry our label and a marker of the project.
pub struct Survey<'a> {
    /// The tickets.
    pub tickets: &'a [Observed],
    /// How a ticket of this tracker differs from what it should say; `before` is what it was last made to say.
    #[expect(clippy::type_complexity, reason = "one function, named by what it takes")]
    pub compare: &'a dyn Fn(&Ticket, Option<&Ticket>, &Observed) -> Vec<FieldDifference>,
}

/// What is remembered of a tracker, by artifact.
pub(super) struct Remembered {
    pub(super) links: BTreeMap<Marker, Link>,
    pub(super) intents: BTreeMap<Marker, Intent>,
}

impl Remembered {
    pub(super) fn read(grounds: &Grounds<'_>) -> Result<Self, LedgerError> {
        let name = &grounds.settings.name;
        let links = grounds.ledger.links(name)?.into_iter();
        let intents = grounds.ledger.intents(name)?.into_iter();
        Ok(Self {
            links: links.map(|link| (link.marker.clone(), link)).collect(),
            intents: intents.map(|intent| (intent.marker.clone(), intent)).collect(),
        })
    }
}

/// Tickets by marker, each list with the oldest first. One that is linked to another artifact is that one's, whatever it says.
pub(crate) fn by_marker<'o, 'l>(
    tickets: impl Iterator<Item = &'o Observed>,
    links: impl Iterator<Item = &'l Link>,
) -> BTreeMap<&'o Marker, Vec<&'o Observed>> {
    let owners: BTreeMap<&str, &Marker> = links.map(|link| (link.remote.id.as_str(), &link.marker)).collect();
    let mut found: BTreeMap<&Marker, Vec<&Observed>> = BTreeMap::new();
    for ticket in tickets {
        if owners.get(ticket.remote.id.as_str()).is_none_or(|owner| **owner == ticket.marker) {
            found.entry(&ticket.marker).or_default().push(ticket);
        }
    }
    found.values_mut().for_each(|same| oldest_first(same));
    found
}
