//! The table of cases for explanations of losses.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::{
    Actor, ChangeInHistory, Digests, Event, EventDraft, EventId, Kind, Lineage, LossExplanation, NewerState,
};
use crate::{
    artifact::{FileHash, StateDigest},
    journal::Loss,
};
use stepmark_frontmatter::diff;
use {LossExplanation::Held, LossExplanation::NotHeld, LossExplanation::Unexplained};

/// Events as `NAME<PARENT,… VERB STATE HOLDERS`, one a word group. A state is a digit a step, or a status;
/// `-`: no file. Holders: `b` the older state of the repository, `n` the newer one.
struct History {
    events: Vec<Event>,
    states: HashMap<String, Json>,
    held: HashMap<char, HashSet<EventId>>,
    /// The last commit of the artifact before.
    committed: Option<Timestamp>,
}

fn state(text: &str) -> Json {
    if text.chars().all(|letter| letter.is_ascii_digit()) {
        let steps: Vec<u32> = text.chars().filter_map(|letter| letter.to_digit(10)).collect();
        json!({ "stepsCompleted": steps })
    } else {
        json!({ "stepsCompleted": [1], "status": text })
    }
}

fn digests(text: &str) -> Option<Digests> {
    let state = Some(StateDigest::of(&state(text)));
    (text != "-").then_some(Digests { file: FileHash::of(text.as_bytes()), state })
}

fn draft(verb: &str) -> EventDraft {
    match verb {
        "seen" => EventDraft::new(Kind::FIRST_SEEN),
        "edit" => EventDraft::new(Kind::EXTERNAL_EDIT),
        "undo" => EventDraft::new(Kind::UNDO),
        "override" => EventDraft::new(Kind::OVERRIDE),
        "remove" => EventDraft::new(Kind::DELETE),
        other => EventDraft::new(Kind::CHANGE).with_command(format!("{other} prd.md")),
    }
}

impl History {
    fn of(text: &str) -> Self {
        let mut history =
            Self { events: Vec::new(), states: HashMap::new(), held: HashMap::new(), committed: None };
        let mut names: HashMap<String, EventId> = HashMap::new();
        for (n, line) in text.split(';').map(str::trim).filter(|line| !line.is_empty()).enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (name, parents) = words[0].split_once('<').unwrap_or((words[0], ""));
            let parents: Vec<&str> = parents.split(',').filter(|parent| !parent.is_empty()).collect();
            let at = format!("2026-11-22T10:00:{n:02}Z").parse().unwrap();
            let mut event = Event::new(draft(words[1]), Actor::human("Ada"), at);
            let empty = json!({});
            let before = parents.first().map_or(&empty, |parent| &history.states[*parent]);
            let after = if words[2] == "-" { json!({}) } else { state(words[2]) };
            event.changes = diff(before, &after);
            let before_event = parents
                .first()
                .and_then(|parent| history.events.iter().find(|event| event.id == names[*parent]));
            event.before = before_event.and_then(|parent| parent.after);
            event.after = digests(words[2]);
            event.parents = parents.iter().map(|parent| names[*parent]).collect();
            event.n = n as u64 + 1;
            let event = event.sealed();
            for holder in words.get(3).unwrap_or(&"").chars() {
                history.held.entry(holder).or_default().insert(event.id);
            }
            names.insert(name.to_owned(), event.id);
            history.states.insert(name.to_owned(), after);
            history.events.push(event);
        }
        history
    }

    fn explains(&self, loss: &Loss<'_>, before: &str, now: &str, newer: NewerState) -> LossExplanation {
        let lineage = Lineage::new(self.events.clone());
        let holds = |holder: char, id: EventId| self.held.get(&holder).is_some_and(|held| held.contains(&id));
        let now_state = state(now);
        ChangeInHistory {
            lineage: &lineage,
            before: digests(before),
            now: digests(now),
            now_state: (now != "-").then_some(&now_state),
            newer,
            is_held_before: &|id| holds('b', id),
            committed_before: self.committed,
            is_held_now: &|id| holds('n', id),
        }
        .explanation(loss)
    }
}

const STEP: Loss<'_> = Loss::Step { list: "stepsCompleted", spelling: "3" };

#[test]
fn steps_in_a_commit() {
    for (case, events, before, now, expected) in [
        ("nothing is recorded", "", "123", "12", Unexplained),
        ("reopened", "s seen 123 n; r<s reopen 12 n", "123", "12", Held),
        ("reopened, not committed", "s seen 123; r<s reopen 12", "123", "12", NotHeld),
        ("undone", "s seen 12 n; c<s complete 123 n; u<c undo 12 n", "123", "12", Held),
        ("forced", "s seen 123 n; o<s override 123 n; c<o set 12 n", "123", "12", Held),
        ("set, which is for values", "s seen 123 n; c<s set 12 n", "123", "12", Unexplained),
        ("by hand, told later", "s seen 123 n; e<s edit 12 n", "123", "12", Unexplained),
        ("reopened, and something else by hand", "s seen 123 n; r<s reopen 12 n", "123", "125", Held),
        // The newest word of this clone is not that of the commit.
        ("completed since, elsewhere", "s seen 123 n; r<s reopen 12 n; c<r complete 123", "123", "12", Held),
        ("the same, sealed with it", "s seen 123 n; r<s reopen 12 n; c<r complete 123 n", "123", "12", Held),
        (
            "another branch completed",
            "s seen 123 n; x<s reopen 12 n; y<s reopen 12; c<y complete 123",
            "123",
            "12",
            Held,
        ),
        // Merges.
        ("merged", "s seen 123 bn; x<s reopen 12 n; y<s complete 1234 bn", "1234", "124", Held),
        (
            "merged with a branch that reopened and completed",
            "s seen 123 bn; y<s reopen 12 bn; c<y complete 123 bn; x<s reopen 12 n",
            "123",
            "12",
            Held,
        ),
        (
            "merged, then told and worked on",
            "s seen 123 bn; x<s reopen 12 n; y<s complete 1234 bn; e<y,x edit 124 n; k<e complete 1245 n",
            "1234",
            "1245",
            Held,
        ),
        (
            "merged into the state of long ago",
            "o seen 12 bn; s<o complete 123 bn; t<s complete 1234 bn; x<t reopen 123 bn; y<t reopen 124 n",
            "123",
            "12",
            Held,
        ),
        // An old reopening excuses nothing.
        (
            "completed again, then by hand",
            "s seen 123 b; r<s reopen 12 bn; c<r complete 123 bn",
            "123",
            "12",
            Unexplained,
        ),
        (
            "completed again, which only this clone knows",
            "s seen 123 bn; r<s reopen 12 bn; c<r complete 123",
            "123",
            "12",
            Unexplained,
        ),
        ("before the older state", "r reopen 12 n; c<r complete 123 n", "123", "12", Unexplained),
        (
            "completed again, by hand, told",
            "s seen 123 n; r<s reopen 12 n; c<r complete 123 n; e<c edit 12 n",
            "123",
            "12",
            Unexplained,
        ),
        ("another step", "s seen 123 n; r<s reopen 13 n", "123", "1", Unexplained),
        // The segment went along with the commit of another artifact.
        ("reopened, held before", "s seen 123 bn; r<s reopen 12 bn", "123", "12", Held),
    ] {
        let found = History::of(events).explains(&STEP, before, now, NewerState::Commit);
        assert_eq!(found, expected, "{case}");
    }
}

#[test]
fn what_was_taken_back_by_other_means_explains_nothing() {
    let committed = |second: u32, events: &str| {
        let at = format!("2026-11-22T10:00:{second:02}Z").parse().ok();
        History { committed: at, ..History::of(events) }
    };
    for (case, second, events, before, now, expected) in [
        (
            "put back by hand and committed, then dropped",
            5,
            "s seen 123 bn; r<s reopen 12 bn",
            "123",
            "12",
            Unexplained,
        ),
        (
            "given up, and carried by a commit of the body",
            5,
            "s seen 123 bn; r<s reopen 12 bn",
            "123",
            "125",
            Unexplained,
        ),
        ("carried by a commit of another artifact", 0, "s seen 123 bn; r<s reopen 12 bn", "123", "12", Held),
        // Work trees share the journal: one sealed what both did.
        (
            "done in another work tree, and merged",
            5,
            "s seen 123 bn; m<s complete 1234 bn; x<s reopen 12 bn",
            "1234",
            "12",
            Held,
        ),
        (
            "given up for other work, then dropped by hand",
            5,
            "s seen 123 bn; x<s reopen 12 bn; m<s complete 1234 bn",
            "1234",
            "124",
            Unexplained,
        ),
        ("a branch that left before", 5, "s seen 123 bn; r<s reopen 12 n", "123", "12", Held),
    ] {
        let found = committed(second, events).explains(&STEP, before, now, NewerState::Commit);
        assert_eq!(found, expected, "{case}");
    }
    let given_up = committed(5, "s seen 12 bn; d<s remove - bn");
    assert_eq!(given_up.explains(&Loss::Artifact, "12", "-", NewerState::Commit), Unexplained);
}

#[test]
fn steps_in_the_index() {
    let events = "s seen 123 n; r<s reopen 12 n; c<r complete 123 n";
    for (case, events, worktree, expected) in [
        ("completed again in the work tree", events, "123", Held),
        ("dropped again by hand", events, "12", Unexplained),
        ("worked on by hand since", events, "129", Unexplained),
        ("deleted since", events, "-", Unexplained),
        ("completed again on a branch", "s seen 123 n; r<s reopen 12 n; c<r complete 123", "12", Held),
    ] {
        let index = NewerState::Index { worktree: digests(worktree) };
        assert_eq!(History::of(events).explains(&STEP, "123", "12", index), expected, "{case}");
    }
    // Added after it was written back by hand, and then another step was reopened.
    let events = "s seen 123 n; r<s reopen 12 n; c<r complete 123 n; x<r reopen 1 n";
    let index = NewerState::Index { worktree: digests("1") };
    assert_eq!(History::of(events).explains(&STEP, "123", "1", index), Unexplained);
}

#[test]
fn values() {
    let status = Loss::Value { key: "status" };
    for (case, events, before, now, expected) in [
        ("set", "s seen done n; c<s set draft n", "done", "draft", Held),
        ("set, then something else by hand", "s seen done n; c<s set review n", "done", "draft", Unexplained),
        ("set to what it was", "d set draft bn; c<d set done bn", "done", "draft", Unexplained),
        (
            "set by one of two that were merged",
            "s seen done bn; c<s set draft n; k<s complete 12 bn",
            "done",
            "draft",
            Held,
        ),
        ("by hand, told", "s seen done n; e<s edit draft n", "done", "draft", Unexplained),
    ] {
        let found = History::of(events).explains(&status, before, now, NewerState::Commit);
        assert_eq!(found, expected, "{case}");
    }
}

#[test]
fn removals() {
    for (case, events, before, expected) in [
        ("removed", "s seen 12 bn; d<s remove - n", "12", Held),
        ("removed, not committed", "s seen 12 b; d<s remove -", "12", NotHeld),
        ("by hand", "s seen 12 n", "12", Unexplained),
        ("by hand, told", "s seen 12 n; d<s edit - n", "12", Unexplained),
        ("another branch went on", "s seen 12 bn; d<s remove - n; r<s reopen 1", "12", Held),
        (
            "this branch went on, and another removed it",
            "s seen 12 bn; r<s reopen 1 bn; d<s remove -",
            "1",
            Unexplained,
        ),
        ("completed before it was removed", "s seen 12 bn; c<s complete 123 n; d<c remove - n", "12", Held),
        ("made again, then by hand", "s seen 12 bn; d<s remove - bn; c<d create 13 bn", "13", Unexplained),
        ("edited by hand, told with the removal", "s seen 13 n; d<s remove - n", "12", Held),
    ] {
        let found = History::of(events).explains(&Loss::Artifact, before, "-", NewerState::Commit);
        assert_eq!(found, expected, "{case}");
    }
}
