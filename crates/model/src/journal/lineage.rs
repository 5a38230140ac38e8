//! The events of one artifact in their order, and the states that they lead to.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value as Json};

use super::{Digests, Event, EventId, Kind};
use crate::artifact::StateDigest;
use stepmark_frontmatter::{ChangeMismatch, make_changes};

/// The events of one artifact, ordered so that none stands before one of its parents.
#[derive(Clone, Debug, Default)]
pub struct Lineage {
    events: Vec<Event>,
    places: HashMap<EventId, usize>,
}

/// Returns whether a list has items `after` that it had not `before`, and has not `now`.
fn lacks_items([before, after, now]: [&Json; 3]) -> bool {
    let items =
        |state: &Json, key: &str| state.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
    after.as_object().into_iter().flat_map(Map::keys).any(|key| {
        let [before, after, now] = [before, after, now].map(|state| items(state, key));
        after.iter().any(|item| !before.contains(item) && !now.contains(item))
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryState {
    /// Its state is that of a head: of an event that nothing follows.
    Current { event: EventId },
    /// Its state is that of another known event, as after a checkout.
    Earlier { event: EventId },
    /// Its state is what git makes of several heads in a merge or a rebase: each key says what it says after
    /// one of them.
    Merged { head: EventId },
    /// No event explains its state: it was changed by other means, or a merge took one side.
    Unexplained {
        /// The latest head; of those of a merge the one that was lost.
        head: EventId,
    },
    /// Nothing is recorded of it, as in a fresh clone.
    NoHistory,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("event {event} is not known")]
    Unknown { event: EventId },
    #[error("event {parent}, which event {event} follows, is not known: its segment is missing")]
    MissingParent { event: EventId, parent: EventId },
    #[error("event {event} does not fit the state before it: {source}")]
    Mismatch { event: EventId, source: ChangeMismatch },
    #[error("event {event} leads to another state than the one it records")]
    WrongState { event: EventId },
    #[error("after event {event} the frontmatter could not be read: there is no state")]
    NoState { event: EventId },
}

impl Lineage {
    /// Orders `events`, of which one that occurs twice counts once.
    pub fn new(mut events: Vec<Event>) -> Self {
        events.sort_by_key(|event| (event.n, event.at, event.id));
        events.dedup_by_key(|event| event.id);
        let places = events.iter().enumerate().map(|(place, event)| (event.id, place)).collect();
        Self { events, places }
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub fn get(&self, id: EventId) -> Option<&Event> {
        self.places.get(&id).map(|place| &self.events[*place])
    }

    /// The events that no other follows; more than one after a merge.
    pub fn heads(&self) -> Vec<&Event> {
        let followed: HashSet<_> = self.events.iter().flat_map(|event| &event.parents).collect();
        self.events.iter().filter(|event| !followed.contains(&event.id)).collect()
    }

    /// The state of an artifact with this file in its history; `None` for a file that is not there. Line ends
    /// and bodies do not count, as long as the frontmatter can be read.
    pub fn history_state(&self, file: Option<Digests>) -> HistoryState {
        let leads_here = |event: &&Event| Digests::are_same_state(event.after, file);
        let heads = self.heads();
        let Some(head) = heads.last() else { return HistoryState::NoHistory };
        if let Some(event) = heads.iter().rev().copied().find(leads_here) {
            return HistoryState::Current { event: event.id };
        }
        match self.events.iter().rev().find(leads_here) {
            Some(event) => HistoryState::Earlier { event: event.id },
            None => HistoryState::Unexplained { head: head.id },
        }
    }

    /// Returns whether `state` is made of those after the heads, of which there are several: each key says
    /// what it says after one of them.
    pub fn is_merged(&self, state: &Json) -> bool {
        let heads = self.heads();
        if heads.len() < 2 {
            return false;
        }
        let states: Result<Vec<Json>, _> = heads.iter().map(|head| self.state_after(head.id)).collect();
        let Ok(states) = states else { return false };
        let keys = states.iter().chain([state]).filter_map(Json::as_object).flat_map(Map::keys);
        keys.into_iter().all(|key| states.iter().any(|head| head.get(key) == state.get(key)))
    }

    /// Those of several heads of which `state` lacks an item that they added to a list, or all, where two
    /// sides made something of one name, or the move of a record; the latest first: a merge may have taken
    /// the other side. What both sides had and one took away is not lost.
    pub fn lost(&self, state: &Json) -> Vec<&Event> {
        let heads = self.heads();
        if heads.len() < 2 {
            return Vec::new();
        }
        let is_taken = heads.iter().any(|head| self.state_after(head.id).is_ok_and(|after| after == *state));
        let lacks = |head: &&Event| {
            let others = heads.iter().filter(|other| other.id != head.id);
            let others: HashSet<EventId> = others.flat_map(|other| self.ancestors(other.id)).collect();
            let own = self.ancestors(head.id);
            let fork = own.iter().filter(|id| others.contains(id)).max_by_key(|id| self.places.get(id));
            let first = own.iter().min_by_key(|id| self.places.get(id)).and_then(|id| self.get(*id));
            let is_made = fork.is_none() && first.is_some_and(|first| first.kind != Kind::FIRST_SEEN);
            let before = fork.copied().or(first.filter(|_| !is_made).map(|first| first.id));
            let before = before.and_then(|before| self.state_after(before).ok()).unwrap_or_default();
            let is_moved = |after: &Json| {
                let differs = |key: &str, from: &Json| after.get(key) != from.get(key);
                ["status", "claimed_by"].iter().any(|key| differs(key, &before) && differs(key, state))
            };
            // Two have made one thing, or moved one record.
            let is_replaced = |after: &Json| match is_made {
                true => after != state,
                false => state.get("stepmark_kind").is_some() && is_moved(after),
            };
            self.state_after(head.id)
                .is_ok_and(|after| lacks_items([&before, &after, state]) || is_taken && is_replaced(&after))
        };
        heads.iter().rev().copied().filter(lacks).collect()
    }

    /// The event `id` and all that lead to it.
    pub(super) fn ancestors(&self, id: EventId) -> HashSet<EventId> {
        let (mut found, mut wanted) = (HashSet::new(), vec![id]);
        while let Some(id) = wanted.pop() {
            if found.insert(id) {
                wanted.extend(self.get(id).into_iter().flat_map(|event| event.parents.iter().copied()));
            }
        }
        found
    }

    /// The frontmatter after the event `id`, found from the nearest snapshot before it.
    pub fn state_after(&self, id: EventId) -> Result<Json, ReplayError> {
        let mut way = Vec::new();
        let mut event = self.get(id).ok_or(ReplayError::Unknown { event: id })?;
        let mut state = loop {
            if let Some(snapshot) = &event.snapshot {
                break snapshot.clone();
            }
            way.push(event);
            let Some(parent) = event.parents.first() else { break Json::Object(serde_json::Map::new()) };
            let missing = ReplayError::MissingParent { event: event.id, parent: *parent };
            // Only forged events lead back to themselves: an id is made from those of the parents.
            event = self.get(*parent).filter(|_| way.len() < self.events.len()).ok_or(missing)?;
        };
        for event in way.into_iter().rev() {
            follow(&mut state, event)?;
        }
        match self.get(id).and_then(|event| event.after) {
            Some(after) if after.state.is_none() => Err(ReplayError::NoState { event: id }),
            _ => Ok(state),
        }
    }

    /// Replays all events, and says which of them does not lead to the state that it records. An event whose
    /// parent is missing starts anew from its snapshot, or cannot be judged.
    pub fn verify(&self) -> Vec<ReplayError> {
        let mut states: HashMap<EventId, Json> = HashMap::new();
        let mut children: HashMap<EventId, usize> = HashMap::new();
        for parent in self.events.iter().filter_map(|event| event.parents.first()) {
            *children.entry(*parent).or_default() += 1;
        }
        let mut problems = Vec::new();
        for event in &self.events {
            let before = event.parents.first().and_then(|parent| {
                let left = children.get_mut(parent)?;
                *left -= 1;
                // The last child takes the state away: as many are kept as there are branches.
                if *left == 0 { states.remove(parent) } else { states.get(parent).cloned() }
            });
            match advance(event, before) {
                Ok(Some(state)) if children.contains_key(&event.id) => {
                    states.insert(event.id, state);
                }
                Ok(_) => {}
                Err(problem) => {
                    problems.push(problem);
                    if let Some(snapshot) = &event.snapshot {
                        states.insert(event.id, snapshot.clone());
                    }
                }
            }
        }
        problems
    }
}

/// The state after `event`, judged by its digest and its snapshot; `None` where there is nothing to start
/// from.
fn advance(event: &Event, before: Option<Json>) -> Result<Option<Json>, ReplayError> {
    let start = match (before, event.parents.is_empty()) {
        (Some(before), _) => Some(before),
        (None, true) => Some(Json::Object(serde_json::Map::new())),
        (None, false) => None,
    };
    let Some(mut state) = start else { return Ok(event.snapshot.clone()) };
    follow(&mut state, event)?;
    let recorded = event.after.and_then(|after| after.state);
    let is_right = recorded.is_none_or(|digest| StateDigest::of(&state) == digest);
    let is_snapshot = event.snapshot.as_ref().is_none_or(|snapshot| *snapshot == state);
    if is_right && is_snapshot { Ok(Some(state)) } else { Err(ReplayError::WrongState { event: event.id }) }
}

fn follow(state: &mut Json, event: &Event) -> Result<(), ReplayError> {
    make_changes(state, &event.changes).map_err(|source| ReplayError::Mismatch { event: event.id, source })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        artifact::FileHash,
        journal::{Actor, EventDraft, Kind},
    };
    use stepmark_frontmatter::diff;

    fn digests(state: &Json) -> Digests {
        Digests { file: FileHash::of(b""), state: Some(StateDigest::of(state)) }
    }

    /// An event that leads from the state after `parent` to `state`.
    fn event(parent: Option<(&Event, &Json)>, state: &Json) -> Event {
        let at = "2026-11-22T10:00:00Z".parse().unwrap();
        let mut event = Event::new(EventDraft::new(Kind::CHANGE), Actor::human("Ada"), at);
        let empty = json!({});
        event.changes = diff(parent.map_or(&empty, |(_, before)| before), state);
        event.parents = parent.map(|(parent, _)| parent.id).into_iter().collect();
        event.n = parent.map_or(1, |(parent, _)| parent.n + 1);
        event.after = Some(digests(state));
        event.sealed()
    }

    fn steps(count: usize) -> Json {
        json!({ "stepsCompleted": (1..=count).collect::<Vec<_>>() })
    }

    fn line_of(count: usize) -> Vec<Event> {
        let mut events: Vec<Event> = Vec::new();
        for place in 0..count {
            let before = steps(place);
            let next = event(events.last().map(|last| (last, &before)), &steps(place + 1));
            events.push(next);
        }
        events
    }

    #[test]
    fn states_are_found_and_verified() {
        let events = line_of(5);
        let lineage = Lineage::new(events.iter().rev().cloned().chain([events[2].clone()]).collect());
        assert_eq!(lineage.events(), events);
        assert_eq!(lineage.verify(), []);
        for (place, event) in events.iter().enumerate() {
            assert_eq!(lineage.state_after(event.id).unwrap(), steps(place + 1));
        }
        let history_state = |count: usize| lineage.history_state(Some(digests(&steps(count))));
        assert_eq!(history_state(5), HistoryState::Current { event: events[4].id });
        assert_eq!(history_state(2), HistoryState::Earlier { event: events[1].id });
        assert_eq!(history_state(9), HistoryState::Unexplained { head: events[4].id });
        assert_eq!(lineage.history_state(None), HistoryState::Unexplained { head: events[4].id });
        assert_eq!(Lineage::default().history_state(None), HistoryState::NoHistory);
    }

    #[test]
    fn states_that_recur_are_told_apart_by_their_events() {
        let mut events = line_of(2);
        events.push(event(Some((&events[1], &steps(2))), &steps(1)));
        let lineage = Lineage::new(events.clone());
        assert_eq!(
            lineage.history_state(Some(digests(&steps(1)))),
            HistoryState::Current { event: events[2].id }
        );
        assert_eq!(lineage.verify(), []);
    }

    #[test]
    fn branches_have_two_heads() {
        let mut events = line_of(2);
        let other = json!({"stepsCompleted": [1, "x"]});
        events.push(event(Some((&events[0], &steps(1))), &other));
        let lineage = Lineage::new(events.clone());
        assert_eq!(lineage.heads().len(), 2);
        assert_eq!(lineage.verify(), []);
        for (event, state) in [(&events[1], steps(2)), (&events[2], other)] {
            assert_eq!(
                lineage.history_state(Some(digests(&state))),
                HistoryState::Current { event: event.id }
            );
            assert_eq!(lineage.state_after(event.id).unwrap(), state);
        }
    }

    #[test]
    fn what_git_makes_of_two_heads() {
        let base = json!({"stepsCompleted": [1, 2], "status": "draft"});
        let first = event(None, &base);
        let reopened = event(Some((&first, &base)), &json!({"stepsCompleted": [1], "status": "draft"}));
        let delegated = json!({"stepsCompleted": [1, 2], "status": "review", "delegation": "x"});
        let delegated = event(Some((&first, &base)), &delegated);
        let lineage = Lineage::new(vec![first.clone(), reopened.clone(), delegated]);
        for (steps, status, delegation, is_merged) in [
            (json!([1]), "review", Some("x"), true),
            (json!([1, 2]), "draft", None, true),
            (json!([]), "review", Some("x"), false),
            (json!([1]), "done", Some("x"), false),
            (json!([1]), "review", Some("y"), false),
        ] {
            let mut state = json!({"stepsCompleted": steps, "status": status});
            if let Some(delegation) = delegation {
                state["delegation"] = json!(delegation);
            }
            assert_eq!(lineage.is_merged(&state), is_merged, "{state}");
        }
        let line = Lineage::new(vec![first, reopened]);
        assert!(!line.is_merged(&json!({"stepsCompleted": [1], "status": "draft"})), "one head");
    }

    #[test]
    fn a_lost_segment_cuts_the_way_up_to_the_next_snapshot() {
        let mut events = line_of(4);
        events[2].snapshot = Some(steps(3));
        let mut cut = events.clone();
        cut.remove(1);
        let lineage = Lineage::new(cut);
        assert_eq!(lineage.verify(), []);
        assert_eq!(lineage.state_after(events[3].id).unwrap(), steps(4));
        events[2].snapshot = None;
        events.remove(1);
        let (event, parent) = (events[1].id, events[1].parents[0]);
        let lineage = Lineage::new(events);
        assert_eq!(lineage.state_after(event), Err(ReplayError::MissingParent { event, parent }));
    }

    #[test]
    fn what_does_not_lead_to_its_state_shows() {
        let mut events = line_of(3);
        events[1].after = Some(digests(&steps(7)));
        let lineage = Lineage::new(events.clone());
        assert_eq!(lineage.verify()[0], ReplayError::WrongState { event: events[1].id });
        let mut events = line_of(3);
        events[2].changes = events[1].changes.clone();
        let lineage = Lineage::new(events.clone());
        assert!(matches!(
            lineage.verify()[..],
            [ReplayError::WrongState { .. } | ReplayError::Mismatch { .. }]
        ));
    }
}
