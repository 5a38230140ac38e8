//! An action on one ticket.

use serde::{Deserialize, Serialize};
use stepmark_model::artifact::ProjectPath;

use crate::ticket::{FieldDifference, Marker, Observed, RemoteTicket, Ticket, TicketDigest};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    pub kind: ActionKind,
    pub marker: Marker,
    /// The path of the artifact; `None` where it is gone.
    #[serde(with = "path_as_text")]
    pub path: Option<ProjectPath>,
    /// The ticket; `None` where it is to be made or looked up.
    pub remote: Option<RemoteTicket>,
    /// The digest of what the ticket is known to say: the ground on which this was decided.
    pub base: Option<TicketDigest>,
    pub digest: Option<TicketDigest>,
    /// The ticket as it should be; `None` where nothing is known of what a ticket to be pruned says.
    pub ticket: Option<Ticket>,
    pub differences: Vec<FieldDifference>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActionKind {
    /// A creation was begun, and nobody knows whether the tracker did it: it is looked up before anything
    /// else. Where it is certainly not there, its intent is taken away, and the next plan creates it.
    LookUp,
    /// A ticket carries the marker and is linked; then it is updated.
    Adopt,
    Create,
    Update,
    /// It is open, and the work is finished.
    Close,
    /// Another ticket of the same artifact counts, and this one is closed. No link leads to it.
    CloseDuplicate,
    /// Its artifact is gone, and it is closed.
    Prune,
}

impl ActionKind {
    /// All kinds, in their order, with their names.
    pub const ALL: [(&'static str, Self); 7] = [
        ("look-up", Self::LookUp),
        ("adopt", Self::Adopt),
        ("create", Self::Create),
        ("update", Self::Update),
        ("close", Self::Close),
        ("close-duplicate", Self::CloseDuplicate),
        ("prune", Self::Prune),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

impl Action {
    pub(crate) fn close_duplicate(observed: &Observed, kept: &RemoteTicket) -> Self {
        let ticket = Ticket::duplicate_of(observed, kept);
        let [before, after] =
            [observed.state, ticket.state].map(|state| serde_json::to_value(state).unwrap_or_default());
        Self {
            kind: ActionKind::CloseDuplicate,
            marker: observed.marker.clone(),
            path: None,
            remote: Some(observed.remote.clone()),
            base: None,
            digest: Some(ticket.digest()),
            differences: FieldDifference::between("state", before, after).into_iter().collect(),
            ticket: Some(ticket),
        }
    }

    /// Returns what it is about: a plan has at most one action for each. Duplicates are tickets of their own.
    pub(super) fn subject(&self) -> (&Marker, Option<&str>) {
        let is_duplicate = self.kind == ActionKind::CloseDuplicate;
        (&self.marker, self.remote.as_ref().filter(|_| is_duplicate).map(|remote| remote.id.as_str()))
    }

    /// Returns whether it and `other` do the same on the same ground.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let key = |action: &Self| {
            (
                action.kind,
                action.marker.clone(),
                action.base,
                action.digest,
                action.remote.as_ref().map(|at| at.id.clone()),
            )
        };
        key(self) == key(other)
    }
}

mod path_as_text {
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};
    use stepmark_model::artifact::ProjectPath;

    pub(super) fn serialize<S: Serializer>(path: &Option<ProjectPath>, to: S) -> Result<S::Ok, S::Error> {
        path.as_ref().map(ProjectPath::as_str).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ProjectPath>, D::Error> {
        Option::deserialize(from)
    }
}
