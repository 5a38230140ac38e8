//! Inputs of a plan, and the choice among several tickets of one artifact.

use std::collections::BTreeMap;

use crate::{
    Result,
    configuration::{Duplicates, TrackerSettings},
    ledger::{Intent, LedgerReader, Link},
    ticket::{FieldDifference, Marker, Observed, RemoteTicket, Snapshot, Ticket, Withheld, oldest_first},
};
use serde::{Deserialize, Serialize};
use stepmark_model::artifact::ProjectPath;

/// In the order of [`oldest_first`](crate::ticket::oldest_first).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim<'c, 'o> {
    pub(crate) same: &'c [&'o Observed],
    /// True if the list is so much later than the link that it shows the linked ticket, if that exists.
    pub(crate) is_late: bool,
}

impl<'o> Claim<'_, 'o> {
    /// The ticket to link instead of that of `link`: an older one, or one that exists while the linked one
    /// does not. `None` if the linked one counts, or nothing better is known.
    pub(crate) fn instead_of(self, link: &Link) -> Option<&'o Observed> {
        let oldest = self.same.first().copied().filter(|oldest| !oldest.is_closed_duplicate())?;
        let is_there = self.same.iter().any(|ticket| ticket.remote.id == link.remote.id);
        (oldest.remote.id != link.remote.id && (is_there || self.is_late)).then_some(oldest)
    }

    /// Open duplicates of the ticket `counts` in which nobody else wrote; none if the list does not show it.
    /// Those that this ledger made (`own`) are closed even if the policy is to report duplicates.
    pub(crate) fn to_close(self, counts: &str, own: Option<&str>, policy: Duplicates) -> Vec<&'o Observed> {
        let is_wanted = |ticket: &&Observed| {
            let id = ticket.remote.id.as_str();
            (policy == Duplicates::Close || own == Some(id)) && ticket.state.is_open() && ticket.is_untouched
        };
        let behind = self.same.iter().skip_while(|ticket| ticket.remote.id != counts).skip(1);
        behind.copied().filter(is_wanted).collect()
    }
}

pub struct PlanInputs<'a> {
    pub snapshot: &'a Snapshot,
    pub settings: &'a TrackerSettings,
    pub ledger: &'a dyn LedgerReader,
    pub survey: Option<Survey<'a>>,
}

/// With our label and a marker of the project.
pub struct Survey<'a> {
    pub tickets: &'a [Observed],
    /// The second ticket is what it was last made to say.
    #[expect(clippy::type_complexity, reason = "one function, named by what it takes")]
    pub compare: &'a dyn Fn(&Ticket, Option<&Ticket>, &Observed) -> Vec<FieldDifference>,
}

pub(super) struct Remembered {
    pub(super) links: BTreeMap<Marker, Link>,
    pub(super) intents: BTreeMap<Marker, Intent>,
}

impl Remembered {
    pub(super) fn read(grounds: &PlanInputs<'_>) -> Result<Self> {
        let name = &grounds.settings.name;
        let links = grounds.ledger.links(name)?.into_iter();
        let intents = grounds.ledger.intents(name)?.into_iter();
        Ok(Self {
            links: links.map(|link| (link.marker.clone(), link)).collect(),
            intents: intents.map(|intent| (intent.marker.clone(), intent)).collect(),
        })
    }
}

/// Each list with the oldest first. A ticket linked to another artifact is that one's, whatever it says.
pub(crate) fn by_marker<'o, 'l>(
    tickets: impl Iterator<Item = &'o Observed>,
    links: impl Iterator<Item = &'l Link>,
) -> BTreeMap<&'o Marker, Vec<&'o Observed>> {
    let owners: BTreeMap<&str, &Marker> = links.map(|link| (link.remote.id.as_str(), &link.marker)).collect();
    let mut found: BTreeMap<&Marker, Vec<&Observed>> = BTreeMap::new();
    let tickets: Vec<&Observed> = tickets.collect();
    let copies = copies(tickets.iter().copied());
    for ticket in tickets {
        if copies.iter().any(|copy| copy.remote.id == ticket.remote.id) {
            continue;
        }
        if owners.get(ticket.remote.id.as_str()).is_none_or(|owner| **owner == ticket.marker) {
            found.entry(&ticket.marker).or_default().push(ticket);
        }
    }
    found.values_mut().for_each(|same| oldest_first(same));
    found
}

/// Tickets that are copies, or into which the text of another was pasted: their stamp names another ticket,
/// or a creation that another ticket is nearer to.
pub(crate) fn copies<'o>(tickets: impl Iterator<Item = &'o Observed>) -> Vec<&'o Observed> {
    let mut made: BTreeMap<(&Marker, Option<&str>), Vec<&Observed>> = BTreeMap::new();
    for ticket in tickets {
        made.entry((&ticket.marker, ticket.stamp.made.as_deref())).or_default().push(ticket);
    }
    let mut copies = Vec::new();
    for ((_, made), same) in made {
        let distance =
            |own: &Observed| own.stamp.made_at().map_or(0, |at| own.created_at.as_second().abs_diff(at));
        let is_named = |own: &&&Observed| own.stamp.ticket.as_ref() == Some(&own.remote.id);
        let nearest = same.iter().filter(|own| own.stamp.ticket.is_none()).min_by_key(|own| distance(own));
        let original = same.iter().find(is_named).or(nearest);
        let is_original =
            |own: &Observed| original.is_some_and(|original| original.remote.id == own.remote.id);
        let is_copy = |own: &Observed| match &own.stamp.ticket {
            Some(ticket) => *ticket != own.remote.id,
            None => made.is_some() && !is_original(own),
        };
        copies.extend(same.iter().copied().filter(|own| is_copy(own)));
    }
    copies
}

/// Nothing is done about it. `artifact` is its path, else the title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Remark {
    /// The policy is to report changes of managed fields.
    Drift {
        marker: Marker,
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
        differences: Vec<FieldDifference>,
    },
    Duplicates {
        marker: Marker,
        #[serde(default)]
        artifact: String,
        /// The linked one, else the oldest.
        kept: RemoteTicket,
        others: Vec<RemoteTicket>,
    },
    Orphan {
        marker: Marker,
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
    },
    /// The patterns of the tracker leave the artifact out: the ticket stays as it is.
    Excluded {
        marker: Marker,
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
    },
    /// Too many artifacts are gone at once to close their tickets without asking.
    ManyGone { gone: usize, tickets: usize },
    /// The linked ticket is not in the list: deleted, moved, or without its marker.
    Missing {
        marker: Marker,
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
    },
    /// Written from something newer than the checkout, so left alone.
    Newer {
        marker: Marker,
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
        reason: String,
    },
    /// BMAD names another ticket for the artifact than the one that it has.
    OtherNamed { artifact: String, remote: RemoteTicket, named: String },
    /// Of another ticket, or with its text pasted. Nothing is done with it.
    Copy { marker: Marker, remote: RemoteTicket },
    /// Our write replaced a text that somebody changed meanwhile; the ticket's history has it.
    Overwritten { marker: Marker, artifact: String, remote: RemoteTicket },
    Withheld {
        marker: Marker,
        artifact: String,
        secrets: Vec<String>,
        /// As `U+202E`.
        characters: Vec<String>,
    },
    /// The tracker shows no more tickets below one: the rest is named in its text.
    Crowded { artifact: String, tickets: usize },
    /// Tickets follow another branch than the checkout, so nothing is done.
    Aside { branch: String, follows: String },
    /// The configuration names another target. Before anything is sent the tracker is asked if that is the
    /// same one under another name.
    Moved { from: String },
    LeftOut {
        path: String,
        reason: String,
        /// False for an artifact that was never given an id: it only has no ticket.
        #[serde(default)]
        is_problem: bool,
    },
}

impl Remark {
    pub(super) fn withheld(marker: &Marker, path: &ProjectPath, withheld: &Withheld) -> Self {
        let code = |letter: &char| format!("U+{:04X}", u32::from(*letter));
        Self::Withheld {
            marker: marker.clone(),
            artifact: path.to_string(),
            secrets: withheld.secrets.iter().cloned().collect(),
            characters: withheld.characters.iter().map(code).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::ticket::{
        CloseReason, TicketState, oldest_first,
        sample::{marker, observed, ticket},
    };

    const OPEN: TicketState = TicketState::ToDo;
    const DONE: TicketState = TicketState::Closed(CloseReason::Completed);
    const DUPLICATE: TicketState = TicketState::Closed(CloseReason::Duplicate);

    fn seen(number: u32, state: TicketState) -> Observed {
        Observed { state, ..observed(&ticket("a", |_| {}), number) }
    }

    #[test]
    fn the_oldest_counts_on_all_machines() {
        // The tickets, the linked one, whether the list is late, what is linked instead.
        for (tickets, linked, is_late, expected) in [
            (vec![], 1, true, None),
            (vec![(1, OPEN)], 1, false, None),
            (vec![(1, OPEN), (2, OPEN)], 1, true, None),
            (vec![(1, OPEN), (2, OPEN)], 2, false, Some("1")),
            (vec![(1, DONE), (2, OPEN)], 2, false, Some("1")),
            (vec![(1, DUPLICATE), (2, OPEN)], 2, false, None),
            (vec![(1, DUPLICATE), (2, OPEN)], 1, false, Some("2")),
            (vec![(1, OPEN), (2, DONE)], 2, false, Some("1")),
            (vec![(2, OPEN)], 1, false, None),
            (vec![(2, OPEN)], 1, true, Some("2")),
            (vec![(2, DUPLICATE)], 1, true, None),
        ] {
            let tickets: Vec<Observed> =
                tickets.into_iter().map(|(number, state)| seen(number, state)).collect();
            let mut same: Vec<&Observed> = tickets.iter().collect();
            oldest_first(&mut same);
            let link = Link {
                tracker: "t".parse().unwrap(),
                marker: marker("a"),
                remote: seen(linked, OPEN).remote,
                digest: None,
                linked_at: Timestamp::UNIX_EPOCH,
            };
            let claim = Claim { same: &same, is_late };
            let instead = claim.instead_of(&link).map(|oldest| oldest.remote.id.as_str());
            assert_eq!(instead, expected, "{same:?} {linked}");
        }
    }

    #[test]
    fn only_what_nobody_else_wrote_in_is_closed() {
        let touched = Observed { is_untouched: false, ..seen(4, OPEN) };
        let tickets = [seen(1, OPEN), seen(2, OPEN), seen(3, DONE), touched, seen(5, OPEN)];
        let same: Vec<&Observed> = tickets.iter().collect();
        let claim = Claim { same: &same, is_late: false };
        for (own, policy, expected) in [
            (None, Duplicates::Close, &["2", "5"][..]),
            (Some("5"), Duplicates::Report, &["5"][..]),
            (Some("4"), Duplicates::Report, &[][..]),
            (None, Duplicates::Report, &[][..]),
        ] {
            let closed = claim.to_close("1", own, policy);
            let ids: Vec<&str> = closed.iter().map(|ticket| ticket.remote.id.as_str()).collect();
            assert_eq!(ids, expected, "{own:?}");
        }
        assert!(
            claim.to_close("9", None, Duplicates::Close).is_empty(),
            "it is not listed yet, and may be younger"
        );
    }
}
