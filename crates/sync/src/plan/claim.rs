//! The inputs of a plan, and the one of several tickets of an artifact that counts.

use std::collections::BTreeMap;

use crate::{
    Result,
    configuration::{Duplicates, TrackerSettings},
    ledger::{Intent, LedgerReader, Link},
    ticket::{FieldDifference, Marker, Observed, RemoteTicket, Snapshot, Ticket, Withheld, oldest_first},
};
use serde::{Deserialize, Serialize};
use stepmark_model::artifact::ProjectPath;

/// The tickets that a tracker has of one artifact, the one that counts first: see
/// [`oldest_first`](crate::ticket::oldest_first).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim<'c, 'o> {
    pub(crate) same: &'c [&'o Observed],
    /// True where the list was made so long after the link that it shows the linked ticket, if that is there.
    pub(crate) is_late: bool,
}

impl<'o> Claim<'_, 'o> {
    /// The ticket that is to be linked in the place of that of `link`, which another machine made or found
    /// before, or which is there while the linked one is not. `None` where the linked one counts, or nothing
    /// better is known.
    pub(crate) fn instead_of(self, link: &Link) -> Option<&'o Observed> {
        let oldest = self.same.first().copied().filter(|oldest| !oldest.is_closed_duplicate())?;
        let is_there = self.same.iter().any(|ticket| ticket.remote.id == link.remote.id);
        (oldest.remote.id != link.remote.id && (is_there || self.is_late)).then_some(oldest)
    }

    /// The tickets that are to be closed where that with the id `counts` counts: open ones behind it in which
    /// nobody else wrote; none where the list does not show it. What this ledger made (`own`) is closed also
    /// where the policy is to report duplicates.
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

/// All tickets of a tracker that carry our label and a marker of the project.
pub struct Survey<'a> {
    pub tickets: &'a [Observed],
    /// Tells how a ticket differs from what it should say; `before` is what it was last made to say.
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

/// Tickets by marker, each list with the oldest first. One that is linked to another artifact is that one's,
/// whatever it says.
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

/// The tickets that are copies of another one, or into which the text of another one was pasted: they say so
/// by the number that they were written into, or they come from a creation that another one is nearer to.
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

/// A remark for a person about a ticket, which no action follows. `artifact` is its path, else the title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Remark {
    /// A person changed managed fields, and the policy is to report that.
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
        /// The ticket that counts: the linked one, else the oldest.
        kept: RemoteTicket,
        others: Vec<RemoteTicket>,
    },
    /// Its artifact is gone, and the policy is to keep it.
    Orphan {
        marker: Marker,
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
    },
    /// Its artifact is there, and the patterns of the tracker leave it out: the ticket stays as it is.
    Excluded {
        marker: Marker,
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
    },
    /// So many artifacts are gone at once that their tickets are not closed without a word of a person.
    ManyGone { gone: usize, tickets: usize },
    /// The linked ticket was not among those that the tracker lists with our label: it was deleted, moved, or
    /// has lost its marker.
    Missing {
        marker: Marker,
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
    },
    /// The ticket was written from something newer than what is checked out, and is left alone.
    Newer {
        marker: Marker,
        #[serde(default)]
        artifact: String,
        remote: RemoteTicket,
        reason: String,
    },
    /// BMAD says that another ticket is the artifact's than the one that it has.
    OtherNamed { artifact: String, remote: RemoteTicket, named: String },
    /// A ticket that was copied, or into which the text of another was pasted. Nothing is done with it.
    Copy { marker: Marker, remote: RemoteTicket },
    /// Our writing went over a text that somebody changed meanwhile; it stands in the history of the ticket.
    Overwritten { marker: Marker, artifact: String, remote: RemoteTicket },
    /// The ticket does not tell all that the artifact says.
    Withheld {
        marker: Marker,
        artifact: String,
        secrets: Vec<String>,
        /// Characters that nobody sees, as `U+202E`.
        characters: Vec<String>,
    },
    /// The tracker shows no more tickets below one: others only name it in their text.
    Crowded {
        /// The path of the artifact below whose ticket there is no room.
        artifact: String,
        tickets: usize,
    },
    /// Tickets follow another branch than the one that is checked out, so nothing is done.
    Aside { branch: String, follows: String },
    /// The configuration names another place than that of the tickets. Before anything is sent the tracker is
    /// asked whether that is the same repository or project under another name.
    Moved { from: String },
    LeftOut {
        path: String,
        reason: String,
        /// True where something is wrong with it: an artifact that was never given an id only has no ticket.
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
