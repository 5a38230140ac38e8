//! A plan as JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Action, ActionKind, Remark};
use crate::{TrackerName, ticket::Marker};

pub const PLAN_SCHEMA: &str = "stepmark.sync-plan/2";

/// The differences between artifacts and their tickets, and the actions that end them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    schema: String,
    pub tracker: TrackerName,
    /// True where the tracker has to be looked through for markers before anything is created: the ledger
    /// knows of no such look, and this plan was made without one.
    pub needs_survey: bool,
    /// The number of tickets that say what they should: no request is made for them.
    pub unchanged: usize,
    /// The actions to do, in this order.
    pub actions: Vec<Action>,
    pub remarks: Vec<Remark>,
    /// The artifacts whose tickets are theirs without a marker, since BMAD says so.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) named: BTreeSet<Marker>,
}

#[derive(Debug, thiserror::Error)]
pub enum PlanReadError {
    #[error("this is no plan of sync: make one with `stepmark sync plan --out FILE`")]
    NoPlan(#[source] serde_json::Error),
    #[error("this plan has the form `{found}`, and `{PLAN_SCHEMA}` is wanted: make a new one")]
    OtherSchema { found: String },
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

    pub fn read(json: &str) -> Result<Self, PlanReadError> {
        #[derive(Deserialize)]
        struct Named {
            schema: String,
        }
        let named: Named = serde_json::from_str(json).map_err(PlanReadError::NoPlan)?;
        if named.schema != PLAN_SCHEMA {
            return Err(PlanReadError::OtherSchema { found: named.schema });
        }
        serde_json::from_str(json).map_err(PlanReadError::NoPlan)
    }

    /// Returns how many actions there are of each kind, without those of which there are none.
    pub fn counts(&self) -> Vec<(ActionKind, usize)> {
        let count = |kind| self.actions.iter().filter(|action| action.kind == kind).count();
        let counts = ActionKind::ALL.iter().map(|(_, kind)| (*kind, count(*kind)));
        counts.filter(|(_, count)| *count > 0).collect()
    }
}

/// A change since a plan was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    pub marker: Marker,
    /// The action that the plan wanted; `None` where it did not speak of it.
    pub planned: Option<ActionKind>,
    /// The action that would be done now; `None` where there is nothing to do any more.
    pub now: Option<ActionKind>,
}

impl Plan {
    /// Returns what changed since this plan was made, where `now` is the plan of today; in the order of the
    /// markers. Nothing: it can be applied exactly as it is.
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
