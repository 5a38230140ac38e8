//! Questions to hand-made journals.

use std::fs;
use stepmark_model::journal::ReplayError;

use serde_json::json;

use crate::ErrorKind;
use crate::history::{
    SegmentPlace, scratch_journal::ScratchJournal, scratch_journal::chain, scratch_journal::digests,
    scratch_journal::event, scratch_journal::key, scratch_journal::path, scratch_journal::steps,
};
use stepmark_model::journal::{Event, EventId, HistoryState};

const PRD: (&str, &str) = ("path:docs/prd.md", "docs/prd.md");
const TRACKED: (&str, &str) = ("id:A", "docs/prd.md");

fn ids(events: &[Event]) -> Vec<EventId> {
    events.iter().map(|event| event.id).collect()
}

#[test]
fn a_project_without_a_journal_has_no_history_and_stays_as_it_is() {
    let project = ScratchJournal::new();
    let history = project.history();
    assert_eq!(history.heads(&key(PRD.0), &path(PRD.1)).unwrap(), []);
    assert_eq!(
        history.lineage(&key(PRD.0), &path(PRD.1)).unwrap().history_state(None),
        HistoryState::NoHistory
    );
    assert_eq!(history.event("abcd").unwrap_err().kind(), ErrorKind::Unknown);
    assert_eq!(fs::read_dir(history.root().path()).unwrap().count(), 0);
    // What begins afterwards is seen, and indexed on disk.
    let events = chain(PRD, 2);
    project.segment_of("main-a", &events);
    assert_eq!(ids(&history.heads(&key(PRD.0), &path(PRD.1)).unwrap()), [events[1].id]);
    assert!(project.place(".stepmark/local/cache/journal.db").exists());
}

#[test]
fn what_is_appended_is_seen_by_the_next_question() {
    let project = ScratchJournal::new();
    let events = chain(PRD, 120);
    let mut segment = project.segment("main-a");
    let history = project.history();
    for (place, event) in events.iter().enumerate() {
        assert!(!history.contains(event.id).unwrap());
        segment.append(event);
        assert!(history.contains(event.id).unwrap());
        assert_eq!(ids(&history.heads(&key(PRD.0), &path(PRD.1)).unwrap()), [event.id]);
        assert_eq!(history.state_after(event.id).unwrap(), steps(place + 1));
    }
    let lineage = history.lineage(&key(PRD.0), &path(PRD.1)).unwrap();
    assert_eq!(lineage.events(), events);
    assert_eq!(lineage.verify(), []);
    assert_eq!(ids(&history.latest(2).unwrap()), [events[119].id, events[118].id]);
    let found = history.find_state(&key(PRD.0), &path(PRD.1), Some(digests(&steps(7)))).unwrap();
    assert_eq!(found, Some(events[6].clone()));
    assert_eq!(history.find_state(&key(PRD.0), &path(PRD.1), None).unwrap(), None);
}

#[test]
fn sealing_and_compacting_change_no_answer() {
    let project = ScratchJournal::new();
    let events = chain(PRD, 300);
    project.segment_of("main-a", &events);
    let history = project.history();
    let check = || {
        for asked in [&history, &project.history()] {
            let lineage = asked.lineage(&key(PRD.0), &path(PRD.1)).unwrap();
            assert_eq!(lineage.events(), events);
            assert_eq!(asked.problems().unwrap(), []);
            assert_eq!(asked.state_after(events[222].id).unwrap(), steps(223));
        }
    };
    check();
    project.seal("main-a");
    check();
    project.compact();
    check();
    fs::remove_dir_all(project.place(".stepmark/local/cache")).unwrap();
    assert_eq!(project.history().lineage(&key(PRD.0), &path(PRD.1)).unwrap().events(), events);
}

#[test]
fn an_id_keeps_the_history_of_the_path() {
    let project = ScratchJournal::new();
    let untracked = chain(PRD, 3);
    let tracked_state = json!({"stepsCompleted": [1, 2, 3], "stepmark_id": "A"});
    let tracked = event(TRACKED, &[(&untracked[2], &steps(3))], &tracked_state, 9);
    let mut segment = project.segment_of("main-a", &untracked);
    let history = project.history();
    // Before the event that tells it: an id given by hand, or `track` asking.
    let heads =
        |key_text: &str, path_text: &str| ids(&history.heads(&key(key_text), &path(path_text)).unwrap());
    assert_eq!(heads("id:A", "docs/prd.md"), [untracked[2].id]);
    assert_eq!(heads("id:A", "docs/other.md"), []);
    segment.append(&tracked);
    assert_eq!(heads("id:A", "docs/prd.md"), [tracked.id]);
    assert_eq!(heads("id:A", "moved/prd.md"), [tracked.id], "the id moves along");
    assert_eq!(heads("path:docs/prd.md", "docs/prd.md"), [tracked.id], "the id was removed by hand");
    let all = [ids(&untracked), vec![tracked.id]].concat();
    for (key_text, path_text) in [("id:A", "moved/prd.md"), ("path:docs/prd.md", "docs/prd.md")] {
        let lineage = history.lineage(&key(key_text), &path(path_text)).unwrap();
        assert_eq!(ids(lineage.events()), all, "{key_text}");
    }
    let found = history.find_state(&key("id:A"), &path("moved/prd.md"), Some(digests(&steps(2)))).unwrap();
    assert_eq!(found.map(|event| event.id), Some(untracked[1].id));
}

#[test]
fn a_file_that_takes_the_place_of_another_does_not_take_its_history() {
    let project = ScratchJournal::new();
    let first = chain(("id:A", "docs/prd.md"), 2);
    let other = event(("id:B", "docs/prd.md"), &[(&first[1], &steps(2))], &steps(5), 20);
    project.segment_of("main-a", &first);
    project.segment_of("main-b", std::slice::from_ref(&other));
    let history = project.history();
    assert_eq!(ids(&history.heads(&key("id:A"), &path("moved.md")).unwrap()), [first[1].id]);
    assert_eq!(ids(&history.heads(&key("id:B"), &path("docs/prd.md")).unwrap()), [other.id]);
}

#[test]
fn branches_have_several_heads_until_they_are_merged() {
    let project = ScratchJournal::new();
    let mut events = chain(PRD, 2);
    let other_state = json!({"stepsCompleted": [1, "x"]});
    events.push(event(PRD, &[(&events[0], &steps(1))], &other_state, 5));
    project.segment_of("main-a", &events);
    let history = project.history();
    let heads = || ids(&history.heads(&key(PRD.0), &path(PRD.1)).unwrap());
    assert_eq!(heads(), [events[1].id, events[2].id]);
    let merge = event(PRD, &[(&events[1], &steps(2)), (&events[2], &other_state)], &steps(3), 8);
    project.segment_of("main-b", std::slice::from_ref(&merge));
    assert_eq!(heads(), [merge.id]);
    fs::remove_file(project.file("main-b", SegmentPlace::Live)).unwrap();
    assert_eq!(heads(), [events[1].id, events[2].id], "the merge went with its segment");
}

#[test]
fn segments_come_and_go_with_branches() {
    let project = ScratchJournal::new();
    let events = chain(PRD, 6);
    for (place, name) in ["main-a", "main-b", "main-c"].into_iter().enumerate() {
        project.segment_of(name, &events[2 * place..2 * place + 2]);
        project.seal(name);
    }
    let history = project.history();
    let heads = || ids(&history.heads(&key(PRD.0), &path(PRD.1)).unwrap());
    let hide = |name| {
        let file = project.file(name, SegmentPlace::Sealed);
        fs::rename(&file, file.with_extension("hidden")).unwrap();
    };
    let show = |name| {
        let file = project.file(name, SegmentPlace::Sealed);
        fs::rename(file.with_extension("hidden"), file).unwrap();
    };
    assert_eq!(heads(), [events[5].id]);
    hide("main-c");
    assert_eq!(heads(), [events[3].id]);
    show("main-c");
    hide("main-b");
    assert_eq!(heads(), [events[1].id, events[5].id], "the way between is missing");
    assert!(!history.contains(events[2].id).unwrap());
    show("main-b");
    assert_eq!(heads(), [events[5].id]);
    for name in ["main-a", "main-b", "main-c"] {
        hide(name);
    }
    assert_eq!(heads(), []);
    show("main-c");
    show("main-a");
    assert_eq!(heads(), [events[1].id, events[5].id]);
    show("main-b");
    assert_eq!(heads(), [events[5].id]);
}

#[test]
fn an_event_that_two_segments_hold_counts_once_and_stays_when_one_goes() {
    let project = ScratchJournal::new();
    let events = chain(PRD, 3);
    project.segment_of("main-a", &events);
    project.segment_of("main-b", &events[1..]);
    project.segment_of("main-c", &events[2..]);
    let history = project.history();
    let known = || ids(history.lineage(&key(PRD.0), &path(PRD.1)).unwrap().events());
    assert_eq!(known(), ids(&events));
    fs::remove_file(project.file("main-a", SegmentPlace::Live)).unwrap();
    assert_eq!(known(), ids(&events[1..]));
    fs::remove_file(project.file("main-b", SegmentPlace::Live)).unwrap();
    assert_eq!(known(), ids(&events[2..]));
}

#[test]
fn events_are_found_by_the_beginning_of_their_id() {
    let project = ScratchJournal::new();
    let events = chain(PRD, 400);
    project.segment_of("main-a", &events);
    let history = project.history();
    let id = events[7].id.to_string();
    assert_eq!(history.event(&id).unwrap(), events[7]);
    assert_eq!(history.event(&id[..20].to_uppercase()).unwrap(), events[7]);
    for wrong in ["abc", "", "wxyz", "+abc", &"a".repeat(33), "äbcd"] {
        assert_eq!(history.event(wrong).unwrap_err().kind(), ErrorKind::Unknown, "{wrong}");
    }
    let unknown = (0..=0xffff_u32).map(|number| format!("{number:04x}"));
    let mut unknown =
        unknown.filter(|prefix| !events.iter().any(|event| event.id.to_string().starts_with(prefix)));
    let prefix = unknown.next().unwrap();
    assert_eq!(history.event(&prefix).unwrap_err().kind(), ErrorKind::Unknown);
}

#[test]
fn forged_events_that_follow_each_other_lead_nowhere() {
    let project = ScratchJournal::new();
    let mut events = chain(PRD, 2);
    for (event, other) in [(0, 1), (1, 0)] {
        events[event].snapshot = None;
        events[event].parents = vec![events[other].id];
        events[event].session = Some("s-1".to_owned());
    }
    project.segment_of("main-a", &events);
    let history = project.history();
    assert!(history.state_after(events[0].id).unwrap_err().detail::<ReplayError>().is_some());
    assert_eq!(history.heads(&key(PRD.0), &path(PRD.1)).unwrap(), []);
    assert_eq!(history.touched("s-1", "s-1").unwrap(), []);
    assert_eq!(history.artifacts().unwrap(), []);
}

#[test]
fn line_ends_that_git_changes_break_no_chain() {
    let project = ScratchJournal::new();
    let events = chain(PRD, 30);
    project.segment_of("main-a", &events);
    project.seal("main-a");
    let file = project.file("main-a", SegmentPlace::Sealed);
    let plain = fs::read_to_string(&file).unwrap();
    let history = project.history();
    for text in [plain.clone(), plain.replace('\n', "\r\n"), plain] {
        fs::remove_file(&file).unwrap();
        fs::write(&file, text).unwrap();
        for asked in [&history, &project.history()] {
            assert_eq!(asked.lineage(&key(PRD.0), &path(PRD.1)).unwrap().events(), events);
            assert_eq!(asked.problems().unwrap(), []);
        }
        assert_eq!(crate::history::verify_segments(&project.root).unwrap().problems, []);
    }
}
