//! Events of one artifact in order, and their states.

use std::collections::{HashMap, HashSet};

use super::{ArtifactKey, Digests, Event, EventId, Kind};
use crate::{
    artifact::{Artifact, FileHash, StateDigest},
    journal::Spelling,
    transition::{Plan, TransitionRefusal},
};
use serde_json::{Map, Value as Json};
use stepmark_frontmatter::{
    Change, ChangeMismatch, Edit, Segment, Splice, apply, edits, inverse, make_changes, splice,
};

/// Parents come before children.
#[derive(Clone, Debug, Default)]
pub struct Lineage {
    events: Vec<Event>,
    places: HashMap<EventId, usize>,
}

/// Items added from `before` to `after` that `now` lacks.
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
    /// The state of a head.
    Current { event: EventId },
    /// The state of another known event, as after a checkout.
    Earlier { event: EventId },
    /// Merged by git from several heads: each key has its value of one of them.
    Merged { head: EventId },
    /// Changed outside of stepmark, or a merge took one side.
    Unexplained {
        /// The latest head; after a merge, the lost one.
        head: EventId,
    },
    /// As in a fresh clone.
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

    /// Events without successors; several after a merge.
    pub fn heads(&self) -> Vec<&Event> {
        let followed: HashSet<_> = self.events.iter().flat_map(|event| &event.parents).collect();
        self.events.iter().filter(|event| !followed.contains(&event.id)).collect()
    }

    /// `None`: deleted. With readable frontmatter, line ends and body do not count.
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

    /// Each key has its value of one of the heads.
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

    /// Heads that a merge has lost, latest first: `state` lacks list items that they added, or their whole
    /// change if both sides created one thing or moved one record. Deletions by one side are not losses.
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
            // Both sides created the same thing, or moved the same record.
            let is_replaced = |after: &Json| match is_made {
                true => after != state,
                false => state.get("stepmark_kind").is_some() && is_moved(after),
            };
            self.state_after(head.id)
                .is_ok_and(|after| lacks_items([&before, &after, state]) || is_taken && is_replaced(&after))
        };
        heads.iter().rev().copied().filter(lacks).collect()
    }

    pub(super) fn ancestors(&self, id: EventId) -> HashSet<EventId> {
        let (mut found, mut wanted) = (HashSet::new(), vec![id]);
        while let Some(id) = wanted.pop() {
            if found.insert(id) {
                wanted.extend(self.get(id).into_iter().flat_map(|event| event.parents.iter().copied()));
            }
        }
        found
    }

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
            // Only forged events form cycles: ids depend on parents.
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

    /// Returns events that do not lead to their recorded state. After a missing parent, replay continues at a
    /// snapshot; until then nothing is judged.
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
                // Keeps only as many states as there are branches.
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

/// Checked by digest and snapshot; `None` without a base state.
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

/// Reverts the changes of `event`; later changes elsewhere are kept. Unchanged text gets its old bytes back,
/// other parts their old values.
pub fn undo(artifact: &Artifact, event: &Event) -> Result<Plan, TransitionRefusal> {
    let refuse =
        |reason: &str| TransitionRefusal::NoUndo { event: event.id.to_string(), reason: reason.to_owned() };
    let about = event.artifact.as_ref().ok_or_else(|| refuse("it is about no artifact"))?;
    let key = ArtifactKey::of(artifact);
    if !event.is_genuine() {
        return Err(refuse("its id does not match its content: it was changed after it was written"));
    }
    // Includes events of its path before it had an id.
    let before_its_id = ArtifactKey::of_path(artifact.path());
    if ![&key, &before_its_id].contains(&&about.key) && about.was.as_ref() != Some(&key) {
        return Err(refuse("it is about another artifact"));
    }
    if event.kind == Kind::FIRST_SEEN {
        return Err(refuse("it only says what was there when stepmark met the artifact"));
    }
    if event.before.is_none() {
        return Err(refuse("it made the file: remove the file instead"));
    }
    if event.after.is_none() {
        return Err(refuse("it removed the file, whose body is not kept"));
    }
    let spelling =
        event.spelling.clone().and_then(|spelling| serde_json::from_value::<Spelling>(spelling).ok());
    if event.changes.is_empty() && spelling.is_none() {
        return Err(refuse("it changed nothing in the frontmatter"));
    }
    if let Some(edit) = spelling.as_ref().and_then(|spelling| put_back(artifact, spelling, event)) {
        return Ok(Plan { edits: vec![edit], remarks: Vec::new() });
    }
    // Added text may have been in the file before, outside of the frontmatter.
    let before = event.before.and_then(|before| before.state);
    let may_have_moved_text = event.kind == Kind::EXTERNAL_EDIT || event.data.contains_key("fixes");
    let had_no_keys = before == Some(StateDigest::of(&Json::Object(Map::new())));
    if before.is_none() || (had_no_keys && may_have_moved_text && spelling.is_none()) {
        return Err(refuse(
            "no state could be read from the file before it, and its text of then is not kept",
        ));
    }
    let changes = inverse(&event.changes);
    if let Some(whole) = changes.iter().find(|change| change.path.0.is_empty()) {
        return Err(refuse(&format!("it changed the frontmatter as a whole (`{}`)", whole.path)));
    }
    let now = artifact
        .state_value()
        .map_err(|error| TransitionRefusal::Unreadable { reason: error.to_string() })?;
    let mut before = now.clone();
    make_changes(&mut before, &changes)
        .map_err(|mismatch| refuse(&format!("`{}` was changed since", mismatch.path)))?;
    let states = [&now, &before];
    let edits = match spelling.and_then(|spelling| spelled(artifact, &spelling, &changes, states)) {
        Some(edits) => edits,
        None if changes.is_empty() => return Err(refuse("how it was written was changed since")),
        None => edits(&changes),
    };
    Ok(Plan { edits, remarks: Vec::new() })
}

/// For frontmatter without comparable state: the event has the hash of the old file.
fn put_back(artifact: &Artifact, spelling: &Spelling, event: &Event) -> Option<Edit> {
    let (before, after) = (event.before?, event.after?);
    if before.state.is_some() && after.state.is_some() {
        return None;
    }
    let splices = spelling.splices(&artifact.region(), artifact.bytes());
    let edit = Edit::PutBack { file: artifact.bytes().to_vec(), splices };
    let edited = apply(artifact.bytes(), &artifact.region(), std::slice::from_ref(&edit)).ok()?;
    (!edited.splices.is_empty() && FileHash::of(&edited.bytes) == before.file).then_some(edit)
}

fn spelled(
    artifact: &Artifact,
    spelling: &Spelling,
    changes: &[Change],
    states: [&Json; 2],
) -> Option<Vec<Edit>> {
    let splices = spelling.splices(&artifact.region(), artifact.bytes());
    let is_known = !splices.is_empty();
    let as_it_was = is_known.then(|| with_splices(artifact, spelling, changes, (splices, states))).flatten();
    as_it_was.or_else(|| with_splices(artifact, spelling, changes, (Vec::new(), states)))
}

fn with_splices(
    artifact: &Artifact,
    spelling: &Spelling,
    changes: &[Change],
    (splices, [now, before]): (Vec<Splice>, [&Json; 2]),
) -> Option<Vec<Edit>> {
    let (file, region) = (artifact.bytes(), artifact.region());
    let (mut planned, mut state) = (Vec::new(), now.clone());
    if !splices.is_empty() {
        state = Artifact::read(artifact.path().clone(), splice(file, &splices)?).state_value().ok()?;
        let keys = [now, before, &state].into_iter().filter_map(Json::as_object).flat_map(|map| map.keys());
        for key in keys {
            if state.get(key) != before.get(key) && state.get(key) != now.get(key) {
                return None;
            }
        }
        planned.push(Edit::Rewrite { file: file.to_vec(), splices });
    }
    let is_left = |change: &&Change| match change.path.0.first() {
        Some(Segment::Key(key)) => state.get(key) != before.get(key),
        _ => true,
    };
    let left: Vec<Change> = changes.iter().filter(is_left).cloned().collect();
    planned.extend(edits(&left));
    let changed = apply(file, &region, &planned).ok()?.bytes;
    let splices = spelling.value_splices(&region, &changed);
    if !splices.is_empty() {
        let respelled = Edit::Rewrite { file: changed.clone(), splices };
        let edited = apply(&changed, &region, std::slice::from_ref(&respelled)).ok();
        let edited = edited.filter(|edited| !edited.splices.is_empty());
        planned.extend(edited.filter(|edited| says(artifact, &edited.bytes, before)).map(|_| respelled));
    }
    (!planned.is_empty()).then_some(planned)
}

fn says(artifact: &Artifact, file: &[u8], state: &Json) -> bool {
    Artifact::read(artifact.path().clone(), file.to_vec()).state_value().is_ok_and(|said| said == *state)
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

#[cfg(test)]
mod undo_tests {
    use super::*;
    use crate::{
        artifact::ProjectPath,
        journal::{Actor, ArtifactState, Attribution, EventBuilder, EventDraft, ExternalAuthor, PriorState},
    };
    use stepmark_frontmatter::{Region, apply};

    const BEFORE: &str =
        "---\nstepsCompleted: [1, 2] # done\nstatus: draft # draft | done\nowner: Ada\n---\n# Body\n";
    const AFTER: &str =
        "---\nstepsCompleted: [1, 2, 3] # done\nstatus: done # draft | done\nextra: yes\n---\n# Body\n";

    fn path() -> ProjectPath {
        ProjectPath::new("docs/prd.md").unwrap()
    }

    fn event(old: Option<&str>, new: Option<&str>) -> Event {
        let attribution = Attribution::of(Actor::human("Ada"));
        let now = "2026-11-22T10:00:00Z".parse().unwrap();
        let builder = EventBuilder { attribution: &attribution, now, path: &path() };
        let [old, new] = [old, new].map(|file| ArtifactState::of(&path(), file.map(str::as_bytes)));
        let draft = EventDraft::new(Kind::CHANGE);
        let recorded = builder.events(PriorState::Unknown, (&old, &new), draft, ExternalAuthor::unknown());
        recorded.last().unwrap().clone()
    }

    fn spelled_event(old: &str, new: &str) -> Event {
        let mut event = event(Some(old), Some(new));
        let spelling =
            Spelling::of(&Region::Frontmatter, (old.as_bytes(), None), new.as_bytes(), &event.changes);
        let draft = EventDraft::new(Kind::CHANGE).keeping(spelling.as_ref());
        event.spelling = draft.spelling;
        // It stands in the journal as text.
        serde_json::from_str(&serde_json::to_string(&event.sealed()).unwrap()).unwrap()
    }

    fn undone(file: &str, event: &Event) -> Result<String, TransitionRefusal> {
        let artifact = Artifact::read(path(), file.as_bytes().to_vec());
        let plan = undo(&artifact, event)?;
        let edited = apply(file.as_bytes(), &Region::Frontmatter, &plan.edits).unwrap();
        Ok(String::from_utf8(edited.bytes).unwrap())
    }

    #[test]
    fn what_was_changed_is_taken_back_and_no_more() {
        let event = event(Some(BEFORE), Some(AFTER));
        assert_eq!(undone(AFTER, &event).unwrap(), BEFORE);
        let later = AFTER.replace("[1, 2, 3]", "[1, 2, 3, 4]").replace("# Body", "# New body");
        let wanted = BEFORE.replace("[1, 2]", "[1, 2, 4]").replace("# Body", "# New body");
        assert_eq!(undone(&later, &event).unwrap(), wanted);
    }

    #[test]
    fn what_was_replaced_comes_back_as_it_was_written() {
        let before = "---\n# head\nn: 1.10   # n\nlist:\n- 'a'\n# why\n- 90717e4\nday: 2026-01-01\nempty:\nend: !own x\n---\n";
        for after in [
            "---\n# head\nn: 2   # n\nlist: [b]\nday: never\nempty: full\nend: !own x\n---\n",
            "---\n# head\nn: 1.10   # n\nlist: [b]\nfresh: 1\nend: !own x\n---\n",
            "---\nend: !own x\n---\n",
            "---\n---\n",
            "---\n# head\nn: 1.10   # n\nlist:\n- 'a'\n# why\n- 90717e4\nday: '2026-01-01'\nempty: null\nend: !own x\n---\n",
        ] {
            let event = spelled_event(before, after);
            assert_eq!(undone(after, &event).unwrap(), before, "{after}");
        }
    }

    #[test]
    fn what_no_reader_can_compare_comes_back_to_the_byte_or_not_at_all() {
        for (before, after) in [
            ("---\n{a: 1, a: 2}\n---\n", "---\n{a: 1, a: 2, k: x}\n---\n"),
            ("---\na: 1\na: 2\nk: 'v' # c\n---\nBody\n", "---\na: 1\na: 2\nk: w # c\n---\nBody\n"),
            ("---\na: 1\na: 2\nk: v\n---\n", "---\na: 1\nk: v\n---\n"),
            ("---\na: 1\nk: v\n---\n", "---\na: 1\nk: v\na: 2\n---\n"),
            ("---\nm: *x\nk: 1.10\n---\n", "---\nm: *x\nk: 2\n---\n"),
        ] {
            let event = spelled_event(before, after);
            assert_eq!(undone(after, &event).unwrap(), before);
            let mut forged = event.clone();
            forged.spelling.as_mut().unwrap()["runs"][0]["old"] = "evil: 1".into();
            let refused = undone(after, &forged.sealed());
            assert!(refused.is_err() || !refused.unwrap().contains("evil"), "{before}");
        }
        let [before, after] = ["k: v", "k: w"].map(|key| format!("---\na: 1\na: 2\n{key}\n---\nBody\n"));
        let event = spelled_event(&before, &after);
        assert!(undone(&after.replace("Body", "More"), &event).is_err(), "nothing proves the rest");
    }

    #[test]
    fn where_its_surroundings_changed_values_keep_their_spelling() {
        let before = "---\nm: {n: 1.10, big: 99999999999999999999, day: 2026-01-01, to: .inf, e: 90717e4}\nkept: 'x'\n---\n";
        let after = "---\nm: {n: 2, big: 3, day: never, to: 4, e: 5}\nkept: y\n---\n";
        let event = spelled_event(before, after);
        let later = after.replace("e: 5}", "e: 5, more: 1}").replace("kept: y", "kept: y # why");
        let wanted = before.replace("90717e4}", "90717e4, more: 1}").replace("kept: 'x'", "kept: 'x' # why");
        assert_eq!(undone(&later, &event).unwrap(), wanted);
    }

    #[test]
    fn an_event_that_was_changed_or_says_another_text_than_its_values_changes_nothing_else() {
        let (before, after) = ("---\na: 1\nb: 2\n---\n", "---\na: 3\nb: 2\n---\n");
        let event = spelled_event(before, after);
        let mut forged = event.clone();
        forged.spelling.as_mut().unwrap()["runs"][0]["old"] = "9".into();
        let refused = undone(after, &forged).unwrap_err().to_string();
        assert!(refused.contains("its id does not match"), "{refused}");
        for old in ["9", "1\nb: 7\nc: 2", "1\nevil: 1", "1\n# evil: [", "1\n---\n"] {
            let mut forged = event.clone();
            forged.spelling.as_mut().unwrap()["runs"][0]["old"] = old.into();
            let file = undone(after, &forged.sealed()).unwrap();
            let state = Artifact::read(path(), file.as_bytes().to_vec()).state_value().unwrap();
            assert_eq!(state, serde_json::json!({"a": 1, "b": 2}), "{old}: {file}");
        }
        for spelling in
            [serde_json::json!({}), serde_json::json!("new"), serde_json::json!({"runs": [{"at": 7}]})]
        {
            let strange = Event { spelling: Some(spelling), ..event.clone() }.sealed();
            assert_eq!(undone(after, &strange).unwrap(), before);
        }
    }

    #[test]
    fn what_cannot_be_taken_back_is_refused_with_the_reason() {
        let change = event(Some(BEFORE), Some(AFTER));
        let [before, after] =
            [BEFORE, AFTER].map(|file| file.replace("owner: Ada", "id: x").replace("extra", "id: x\nextra"));
        let other = event(Some(&before), Some(&after.replace("id: x\nid: x", "id: x")));
        for (file, event, reason) in [
            (AFTER.replace("status: done", "status: review"), change, "`status` was changed since"),
            (AFTER.to_owned(), other, "another artifact"),
            (AFTER.to_owned(), event(None, Some(AFTER)), "it made the file"),
            (
                AFTER.to_owned(),
                spelled_event("---\nstatus: done\nm:\n\ta: 1\n---\n", AFTER),
                "no state could be read",
            ),
            (AFTER.to_owned(), event(Some(BEFORE), None), "it removed the file"),
        ] {
            let refused = undone(&file, &event).unwrap_err().to_string();
            assert!(refused.contains(reason), "{refused}");
        }
    }
}
