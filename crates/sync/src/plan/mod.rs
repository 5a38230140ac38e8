//! Plans: the difference between artifacts, ledger and, if asked, tracker. Pure.

mod claim;
mod make;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use stepmark_model::artifact::{FileHash, ProjectPath};
use stepmark_store::{checking::KeptDigests, disk::par_map};

use crate::{
    Error, Result, TrackerName,
    ticket::{
        FieldDifference, Marker, Observed, RemoteTicket, Snapshot, SnapshotEntry, Ticket, TicketDigest,
        TicketKeys, TicketSettings, Withheld,
    },
};

pub(crate) use claim::{Claim, by_marker, copies};

pub use claim::{PlanInputs, Remark, Survey};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    pub kind: ActionKind,
    pub marker: Marker,
    #[serde(with = "path_as_text")]
    pub path: Option<ProjectPath>,
    pub remote: Option<RemoteTicket>,
    /// The digest of what the ticket said when this was decided.
    pub base: Option<TicketDigest>,
    pub digest: Option<TicketDigest>,
    /// `None` if nothing is known of what a ticket to be pruned says.
    pub ticket: Option<Ticket>,
    pub differences: Vec<FieldDifference>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActionKind {
    /// A creation is in doubt: it is looked up. If the ticket certainly does not exist, the intent is
    /// removed, and the next plan creates it.
    LookUp,
    /// A ticket with the marker is linked, then updated.
    Adopt,
    Create,
    Update,
    Close,
    /// Another ticket of the artifact counts. No link leads to this one.
    CloseDuplicate,
    Prune,
}

impl ActionKind {
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

    /// A plan has at most one action for each. Duplicates are tickets of their own.
    fn subject(&self) -> (&Marker, Option<&str>) {
        let is_duplicate = self.kind == ActionKind::CloseDuplicate;
        (&self.marker, self.remote.as_ref().filter(|_| is_duplicate).map(|remote| remote.id.as_str()))
    }

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

struct Comparison<'k, 'a> {
    snapshot: &'a Snapshot,
    settings: &'a TicketSettings,
    kept: &'k KeptDigests,
}

struct Compared<'a> {
    marker: &'a Marker,
    entry: &'a SnapshotEntry,
    kept: Option<(FileHash, FileHash)>,
    outcome: Outcome,
}

enum Outcome {
    Same,
    Desired(Box<Ticket>, Withheld),
    Gone,
}

impl<'a> Comparison<'_, 'a> {
    /// `said` gives the digest of what a ticket is known to say.
    fn of_all(
        &self,
        artifacts: &[(&'a Marker, &'a SnapshotEntry)],
        said: impl Fn(&Marker) -> Option<TicketDigest> + Sync,
    ) -> Vec<Compared<'a>> {
        let keys = TicketKeys::new(self.settings);
        par_map(artifacts, |(marker, entry)| {
            let key =
                entry.content.map(|content| keys.of(&content, self.snapshot.hangs(marker, self.settings)));
            self.compare((marker, entry), key, said(marker))
        })
    }

    fn compare(
        &self,
        (marker, entry): (&'a Marker, &'a SnapshotEntry),
        key: Option<FileHash>,
        said: Option<TicketDigest>,
    ) -> Compared<'a> {
        let compared = |digest: Option<TicketDigest>, outcome| {
            let kept = key.zip(digest.map(TicketDigest::hash));
            Compared { marker, entry, kept, outcome }
        };
        let known = key.and_then(|key| self.kept.get(&key)).map(TicketDigest::from);
        if known.is_some() && known == said {
            return compared(known, Outcome::Same);
        }
        let desired = Ticket::desired_and_withheld(self.snapshot, marker, self.settings);
        let Some((desired, withheld)) = desired else {
            return compared(known, Outcome::Gone);
        };
        let digest = Some(desired.digest());
        let is_same = digest == said;
        compared(digest, if is_same { Outcome::Same } else { Outcome::Desired(Box::new(desired), withheld) })
    }
}

pub const PLAN_SCHEMA: &str = "stepmark.sync-plan/2";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    schema: String,
    pub tracker: TrackerName,
    /// The tracker has to be searched for markers before anything is created: the ledger knows of no search.
    pub needs_survey: bool,
    pub unchanged: usize,
    pub actions: Vec<Action>,
    pub remarks: Vec<Remark>,
    /// Artifacts whose tickets have no marker: BMAD names them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) named: BTreeSet<Marker>,
}

impl Plan {
    pub fn empty(tracker: TrackerName) -> Self {
        Self {
            schema: PLAN_SCHEMA.to_owned(),
            tracker,
            needs_survey: false,
            unchanged: 0,
            actions: Vec::new(),
            remarks: Vec::new(),
            named: BTreeSet::new(),
        }
    }

    pub fn read(json: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Named {
            schema: String,
        }
        let no_plan = |error: serde_json::Error| {
            let message = "this is no plan of sync: make one with `stepmark sync plan --out FILE`";
            Error::usage(message).because(error)
        };
        let named: Named = serde_json::from_str(json).map_err(no_plan)?;
        if named.schema != PLAN_SCHEMA {
            let found = named.schema;
            let message =
                format!("this plan has the form `{found}`, and `{PLAN_SCHEMA}` is wanted: make a new one");
            return Err(Error::usage(message));
        }
        serde_json::from_str(json).map_err(no_plan)
    }

    pub fn counts(&self) -> Vec<(ActionKind, usize)> {
        let count = |kind| self.actions.iter().filter(|action| action.kind == kind).count();
        let counts = ActionKind::ALL.iter().map(|(_, kind)| (*kind, count(*kind)));
        counts.filter(|(_, count)| *count > 0).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    pub marker: Marker,
    pub planned: Option<ActionKind>,
    pub now: Option<ActionKind>,
}

impl Plan {
    /// By marker; empty if this plan can be applied as it is. `now` is today's plan.
    pub fn stale(&self, now: &Self) -> Vec<Stale> {
        let by_subject = |plan: &'_ Self| -> BTreeMap<_, Action> {
            let owned = |(marker, id): (&Marker, Option<&str>)| (marker.clone(), id.map(str::to_owned));
            plan.actions.iter().map(|action| (owned(action.subject()), action.clone())).collect()
        };
        let (planned, current) = (by_subject(self), by_subject(now));
        let subjects: BTreeSet<_> = planned.keys().chain(current.keys()).collect();
        let stale = subjects.into_iter().filter_map(|subject| {
            let (planned, current) = (planned.get(subject), current.get(subject));
            let agrees = planned.zip(current).is_some_and(|(planned, current)| planned.agrees_with(current));
            let kind = |action: Option<&Action>| action.map(|action| action.kind);
            let stale = Stale { marker: subject.0.clone(), planned: kind(planned), now: kind(current) };
            (!agrees).then_some(stale)
        });
        stale.collect()
    }
}

#[cfg(test)]
mod cases;
