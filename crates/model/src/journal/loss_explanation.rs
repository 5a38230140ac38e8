//! The explanation of a loss by history. Pure: events and states in, verdict out.

use std::collections::HashSet;

use jiff::Timestamp;
use serde_json::Value as Json;

use super::{Digests, Event, EventId, Kind, Lineage};
use crate::workflow::StepId;
use stepmark_frontmatter::{Change, Operation, Segment};

/// Something that an artifact said and does not say any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss<'a> {
    /// A completed step: accepted if it was reopened, or an earlier state was put back.
    Step {
        list: &'a str,
        spelling: &'a str,
    },
    /// The value of a key of the root.
    Value {
        key: &'a str,
    },
    Artifact,
}

/// A change of an artifact between two states of its repository, with what history knows of it.
#[derive(Clone, Copy)]
pub struct ChangeInHistory<'a> {
    pub lineage: &'a Lineage,
    pub before: Option<Digests>,
    /// The artifact in the newer state; `None` where it is deleted.
    pub now: Option<Digests>,
    pub now_state: Option<&'a Json>,
    pub newer: NewerState,
    pub is_held_before: &'a dyn Fn(EventId) -> bool,
    /// The time of the artifact's last commit, as its author's clock says, in the history of the older state.
    pub committed_before: Option<Timestamp>,
    /// Returns whether the newer state of the repository holds the event.
    pub is_held_now: &'a dyn Fn(EventId) -> bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewerState {
    Commit,
    Index {
        /// The artifact in the work tree, which may be ahead of the index.
        worktree: Option<Digests>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossExplanation {
    /// Somebody took it away through stepmark, and the newer state holds the event: every clone can see why.
    Held,
    /// The same, but only this clone knows the event.
    NotHeld,
    Unexplained,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Lost,
    /// It came, or stayed while its neighbours changed.
    There,
}

impl ChangeInHistory<'_> {
    /// Events that the newer state holds decide, as in every other clone; else all of this clone are asked.
    pub fn explanation(&self, loss: &Loss<'_>) -> LossExplanation {
        if self.is_explained(loss, self.is_held_now) {
            LossExplanation::Held
        } else if self.is_explained(loss, &|_| true) {
            LossExplanation::NotHeld
        } else {
            LossExplanation::Unexplained
        }
    }

    /// Returns whether the events that `counts` explain the loss.
    ///
    /// Events that led to the newer state decide, each by what happened before it: the last word on the loss
    /// must be that somebody took it away. Where no event led there, as after a merge, it is enough that one
    /// of the last words is.
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

    /// Returns whether the loss was spoken of by `later` events, which did not lead to the index, and the
    /// work tree shows none of their states: then somebody wrote the older state back. Where it shows one,
    /// the index is only behind the work tree.
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

    /// Returns whether the artifact was committed after the event, and the older state, which has the event,
    /// does not show it: what was done was taken back since by other means. Git's times are whole seconds.
    fn is_left_behind(&self, event: &Event) -> bool {
        self.committed_before.is_some_and(|at| at > event.at)
            && (self.is_held_before)(event.id)
            && !self.came_from_beside(event)
    }

    /// Returns whether the event happened beside those that led to the older state, and led to the newer one:
    /// a commit seals what all work trees did, so that the older state holds events that it never showed.
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

    /// The events that had happened when the older state was made, as far as states tell: those that led to
    /// it. A state that recurs is that of its latest event only where the older state of the repository holds
    /// what lies between.
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

    /// The events that count, are `within` and speak of the loss, followed by no other that does.
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

    /// `None`: the event does not speak of the loss.
    fn effect(&self, event: &Event, loss: &Loss<'_>) -> Option<Effect> {
        if event.kind == Kind::EXTERNAL_EDIT && event.parents.len() > 1 {
            // What git made of several states: the word of each of them still counts.
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

    /// Returns whether the author of the event said what was to happen. A step goes by `reopen`, or with an
    /// earlier state that is put back, or against what was refused; a value by any command; an artifact by
    /// `remove`, as it was then or had become since.
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

    /// Returns whether a removal is that of the older state, and not of another one on another branch.
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
