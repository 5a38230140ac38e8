//! Whether a plan that was written down still holds.

use std::collections::{BTreeMap, BTreeSet};

use super::{Action, ActionKind, Plan};
use crate::ticket::Marker;

/// What changed since a plan was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The artifact.
    pub marker: Marker,
    /// What the plan wanted to do; `None` where it did not speak of it.
    pub planned: Option<ActionKind>,
    /// What would be done now; `None` where there is nothing to do any more.
    pub now: Option<ActionKind>,
}

impl Plan {
    /// What changed since this plan was made, where `now` is the plan of today; in the order of the markers. Nothing: it can be
    /// applied exactly as it is.
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
