//! Explains losses by history. Pure: events and states → verdict.

use std::collections::HashSet;

use jiff::Timestamp;
use serde_json::Value as Json;

use super::{Digests, Event, EventId, Kind, Lineage};
use crate::workflow::StepId;
use stepmark_frontmatter::{Change, Operation, Segment};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss<'a> {
    /// Accepted if it was reopened, or an earlier state was restored.
    Step {
        list: &'a str,
        spelling: &'a str,
    },
    Value {
        key: &'a str,
    },
    Artifact,
}

/// A change between two states of the repository, with history.
#[derive(Clone, Copy)]
pub struct ChangeInHistory<'a> {
    pub lineage: &'a Lineage,
    pub before: Option<Digests>,
    pub now: Option<Digests>,
    pub now_state: Option<&'a Json>,
    pub newer: NewerState,
    pub is_held_before: &'a dyn Fn(EventId) -> bool,
    /// Author time of the artifact's last commit in the older state.
    pub committed_before: Option<Timestamp>,
    pub is_held_now: &'a dyn Fn(EventId) -> bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewerState {
    Commit,
    Index {
        /// May be ahead of the index.
        worktree: Option<Digests>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossExplanation {
    /// Removed through stepmark, and the newer state has the event: every clone sees the reason.
    Held,
    /// The same, but only this clone has the event.
    NotHeld,
    Unexplained,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Lost,
    /// Added, or kept while its neighbours changed.
    There,
}

impl ChangeInHistory<'_> {
    /// Events of the newer state decide, as in other clones; if they do not explain it, all local events.
    pub fn explanation(&self, loss: &Loss<'_>) -> LossExplanation {
        if self.is_explained(loss, self.is_held_now) {
            LossExplanation::Held
        } else if self.is_explained(loss, &|_| true) {
            LossExplanation::NotHeld
        } else {
            LossExplanation::Unexplained
        }
    }

    /// Only events for which `counts` is true.
    ///
    /// Events that led to the newer state decide, each by what happened before it: the last one about the
    /// loss must be a removal. If none led there, as after a merge, one of the last ones is enough.
    fn is_explained(&self, loss: &Loss<'_>, counts: &dyn Fn(EventId) -> bool) -> bool {
        let past = self.past_of_before();
        let took_away = |event: &Event| {
            self.effect(event, loss) == Some(Effect::Lost)
                && self.is_deliberate(event, loss)
                && !past.contains(&event.id)
                && !self.is_left_behind(event)
        };
        let events = self.lineage.events().iter();
        let arrivals: Vec<&Event> = events
            .filter(|event| Digests::are_same_state(event.after, self.now))
            .filter(|event| counts(event.id) && !past.contains(&event.id) && !self.is_left_behind(event))
            .collect();
        if arrivals.is_empty() {
            return self.last_words(loss, counts, None).into_iter().any(took_away);
        }
        arrivals.iter().any(|arrival| {
            let later = self.descendants(arrival.id);
            let is_last = !arrivals.iter().any(|other| later.contains(&other.id));
            let ancestors = self.lineage.ancestors(arrival.id);
            let is_left = |event: &Event| match self.newer {
                NewerState::Commit => false,
                NewerState::Index { worktree } => {
                    let later = &self.descendants(event.id) - &ancestors;
                    self.was_left(&later, worktree, loss, counts)
                }
            };
            is_last
                && self
                    .last_words(loss, counts, Some(&ancestors))
                    .into_iter()
                    .any(|event| took_away(event) && !is_left(event))
        })
    }

    /// `later` events mention the loss, did not lead to the index, and the work tree has none of their
    /// states: an older state was written back. If it has one, only the index is behind.
    fn was_left(
        &self,
        later: &HashSet<EventId>,
        worktree: Option<Digests>,
        loss: &Loss<'_>,
        counts: &dyn Fn(EventId) -> bool,
    ) -> bool {
        let later = || self.lineage.events().iter().filter(|event| later.contains(&event.id));
        later().any(|event| counts(event.id) && self.effect(event, loss).is_some())
            && !later().any(|event| Digests::are_same_state(event.after, worktree))
    }

    /// The artifact was committed after the event, and the older state has the event but not its effect: it
    /// was reverted outside of stepmark. Git's times are whole seconds.
    fn is_left_behind(&self, event: &Event) -> bool {
        self.committed_before.is_some_and(|at| at > event.at)
            && (self.is_held_before)(event.id)
            && !self.came_from_beside(event)
    }

    /// The event is not an ancestor of the older state, but of the newer: a commit seals events of all work
    /// trees, so the older state has events without their effect.
    fn came_from_beside(&self, event: &Event) -> bool {
        let (earlier, later) = (self.lineage.ancestors(event.id), self.descendants(event.id));
        let leads_to_now = |other: &Event| {
            (other.id == event.id || later.contains(&other.id))
                && Digests::are_same_state(other.after, self.now)
        };
        let is_beside = |led: &Event| {
            !earlier.contains(&led.id) && !later.contains(&led.id) && (self.is_held_before)(led.id)
        };
        self.lineage.events().iter().any(leads_to_now) && self.led_to_before().any(is_beside)
    }

    fn led_to_before(&self) -> impl Iterator<Item = &Event> + Clone {
        self.lineage.events().iter().filter(|event| Digests::are_same_state(event.after, self.before))
    }

    /// Ancestors of the older state, judged by states. A recurring state is that of its latest event only if
    /// the older repository state has the events in between.
    fn past_of_before(&self) -> HashSet<EventId> {
        let pasts: Vec<(EventId, HashSet<EventId>)> =
            self.led_to_before().map(|event| (event.id, self.lineage.ancestors(event.id))).collect();
        let is_past = |id: EventId| {
            pasts.iter().all(|(_, past)| past.contains(&id))
                || (self.is_held_before)(id)
                || pasts.iter().any(|(end, past)| past.contains(&id) && (self.is_held_before)(*end))
        };
        let candidates: HashSet<EventId> = pasts.iter().flat_map(|(_, past)| past.iter().copied()).collect();
        candidates.into_iter().filter(|id| is_past(*id)).collect()
    }

    /// Counting events `within` about the loss, without a later one.
    fn last_words(
        &self,
        loss: &Loss<'_>,
        counts: &dyn Fn(EventId) -> bool,
        within: Option<&HashSet<EventId>>,
    ) -> Vec<&Event> {
        let (mut last, mut followed) = (Vec::new(), HashSet::new());
        let is_within = |event: &&Event| within.is_none_or(|within| within.contains(&event.id));
        for event in self.lineage.events().iter().rev().filter(is_within) {
            let is_followed = followed.contains(&event.id);
            let speaks = counts(event.id) && self.effect(event, loss).is_some();
            if speaks && !is_followed {
                last.push(event);
            }
            if speaks || is_followed {
                followed.extend(event.parents.iter().copied());
            }
        }
        last
    }

    fn descendants(&self, id: EventId) -> HashSet<EventId> {
        let mut found = HashSet::new();
        for event in self.lineage.events() {
            if event.parents.iter().any(|parent| *parent == id || found.contains(parent)) {
                found.insert(event.id);
            }
        }
        found
    }

    fn effect(&self, event: &Event, loss: &Loss<'_>) -> Option<Effect> {
        if event.kind == Kind::EXTERNAL_EDIT && event.parents.len() > 1 {
            // A merge by git: each merged event still counts.
            return None;
        }
        match loss {
            Loss::Artifact => Some(if event.after.is_none() { Effect::Lost } else { Effect::There }),
            Loss::Value { key } => {
                changes_under(event, key).next()?;
                let now = self.now_state.and_then(|state| state.get(*key));
                let leads_elsewhere = |change: &Change| change.path.0.len() == 1 && new_value(change) != now;
                Some(if changes_under(event, key).any(leads_elsewhere) {
                    Effect::There
                } else {
                    Effect::Lost
                })
            }
            Loss::Step { list, spelling } => {
                let step = StepId::parse(spelling);
                let has_step = |value: Option<&Json>| value.is_some_and(|value| names(value, &step));
                let was = changes_under(event, list).any(|change| has_step(old_value(change)));
                let is = changes_under(event, list).any(|change| has_step(new_value(change)));
                match (was, is) {
                    (_, true) => Some(Effect::There),
                    (true, false) => Some(Effect::Lost),
                    (false, false) => None,
                }
            }
        }
    }

    /// The author intended it: a step by `reopen`, by restoring an earlier state, or by an override; a value
    /// by any command; an artifact by `remove` in that or a later state.
    fn is_deliberate(&self, event: &Event, loss: &Loss<'_>) -> bool {
        let is_override = |event: &Event| event.kind == Kind::OVERRIDE;
        let is_own_change = event.kind == Kind::CHANGE;
        let puts_back = [Kind::UNDO, Kind::RESTORE, Kind::IMPORT].contains(&event.kind) || is_override(event);
        match loss {
            Loss::Artifact => (event.kind == Kind::DELETE || puts_back) && self.is_about_before(event),
            Loss::Value { .. } => puts_back || is_own_change,
            Loss::Step { .. } => {
                let is_reopen =
                    event.command.as_deref().is_some_and(|command| command.starts_with("reopen "));
                let mut parents = event.parents.iter().filter_map(|parent| self.lineage.get(*parent));
                puts_back || is_own_change && (is_reopen || parents.any(is_override))
            }
        }
    }

    fn is_about_before(&self, event: &Event) -> bool {
        let ancestors = self.lineage.ancestors(event.id);
        let mut led_to_before = self.led_to_before();
        let is_known = led_to_before.clone().next().is_some();
        !is_known
            || Digests::are_same_state(event.before, self.before)
            || led_to_before.any(|before| ancestors.contains(&before.id))
    }
}

const fn old_value(change: &Change) -> Option<&Json> {
    match &change.op {
        Operation::Set { old, .. } | Operation::Remove { old } => Some(old),
        Operation::Insert { .. } => None,
    }
}

const fn new_value(change: &Change) -> Option<&Json> {
    match &change.op {
        Operation::Set { new, .. } | Operation::Insert { new } => Some(new),
        Operation::Remove { .. } => None,
    }
}

fn changes_under<'a>(event: &'a Event, key: &'a str) -> impl Iterator<Item = &'a Change> {
    let is_under =
        move |change: &&Change| matches!(change.path.0.first(), Some(Segment::Key(first)) if first == key);
    event.changes.iter().filter(is_under)
}

fn names(value: &Json, step: &StepId) -> bool {
    let is_step = |spelling: &str| {
        let id = StepId::parse(spelling);
        id.spelling() == step.spelling() || id.number().is_some() && id.form() == step.form()
    };
    match value {
        Json::Array(items) => items.iter().any(|item| names(item, step)),
        Json::Object(entries) => ["step", "id", "name"]
            .iter()
            .find_map(|key| entries.get(*key))
            .is_some_and(|item| names(item, step)),
        Json::String(text) => is_step(text),
        Json::Number(number) => is_step(&number.to_string()),
        Json::Null | Json::Bool(_) => false,
    }
}
