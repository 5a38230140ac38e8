//! However the events of an artifact are spread over segments, and in whatever order these come in, the
//! answers are those of a [`Lineage`] over all of them.

use std::fs;

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::history::{
    History, SegmentPlace, scratch_journal::ScratchJournal, scratch_journal::digests, scratch_journal::event,
    scratch_journal::key, scratch_journal::path,
};
use stepmark_model::journal::{Event, EventId, Lineage};

const KEY: &str = "id:A";
const PATH: &str = "docs/a.md";

fn any_place() -> impl Strategy<Value = SegmentPlace> {
    prop_oneof![Just(SegmentPlace::Live), Just(SegmentPlace::Sealed)]
}

fn state(number: u8) -> Json {
    json!({ "status": number, "stepsCompleted": (0..number).collect::<Vec<_>>() })
}

fn history_of(makings: &[(Vec<prop::sample::Index>, u8, u8)]) -> Vec<Event> {
    let mut events: Vec<(Event, Json)> = Vec::new();
    for (parents, number, second) in makings {
        let state = state(*number);
        let mut chosen: Vec<usize> = match events.len() {
            0 => Vec::new(),
            count => parents.iter().map(|parent| parent.index(count)).collect(),
        };
        chosen.dedup();
        let parents: Vec<_> = chosen.iter().map(|place| (&events[*place].0, &events[*place].1)).collect();
        let next = event((KEY, PATH), &parents, &state, u64::from(*second));
        events.push((next, state));
    }
    events.into_iter().map(|(event, _)| event).collect()
}

fn ids<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<EventId> {
    events.into_iter().map(|event| event.id).collect()
}

fn assert_answers(history: &History, known: &[Event]) {
    let wanted = Lineage::new(known.to_vec());
    let lineage = history.lineage(&key(KEY), &path(PATH)).unwrap();
    assert_eq!(ids(lineage.events()), ids(wanted.events()));
    let heads = history.heads(&key(KEY), &path(PATH)).unwrap();
    assert_eq!(ids(&heads), ids(wanted.heads()));
    for number in 0..5 {
        let file = Some(digests(&state(number)));
        let found = history.find_state(&key(KEY), &path(PATH), file).unwrap();
        let same = wanted.events().iter().rev().find(|event| event.after == file);
        assert_eq!(found.as_ref(), same);
    }
    for event in wanted.events() {
        assert!(history.contains(event.id).unwrap());
        match (history.state_after(event.id), wanted.state_after(event.id)) {
            (Ok(found), Ok(wanted)) => assert_eq!(found, wanted),
            (found, wanted) => assert!(found.is_err() && wanted.is_err(), "{found:?} {wanted:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn gives_the_same_answers(
        makings in prop::collection::vec((prop::collection::vec(any::<prop::sample::Index>(), 0..3), 0_u8..4, 0_u8..4), 1..24),
        segments in prop::collection::vec(any_place(), 1..5),
        homes in prop::collection::vec(any::<prop::sample::Index>(), 24),
        twice in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        gone in any::<prop::sample::Index>(),
    ) {
        let events = history_of(&makings);
        let mut contents: Vec<Vec<Event>> = vec![Vec::new(); segments.len()];
        for (event, home) in events.iter().zip(&homes) {
            contents[home.index(segments.len())].push(event.clone());
        }
        for copied in twice {
            let copy = copied.get(&events).clone();
            contents[copied.index(segments.len())].push(copy);
        }
        let project = ScratchJournal::new();
        let history = project.history();
        let mut known: Vec<Event> = Vec::new();
        // The last segment first, so that children come before their parents as often as behind them.
        for (number, place) in segments.iter().enumerate().rev() {
            let name = format!("main-{number}");
            project.segment_of(&name, &contents[number]);
            known.extend(contents[number].clone());
            assert_answers(&history, &known);
            if *place != SegmentPlace::Live {
                project.seal(&name);
            }
            assert_answers(&history, &known);
        }
        let gone = gone.index(segments.len());
        fs::remove_file(project.file(&format!("main-{gone}"), segments[gone])).unwrap();
        contents.remove(gone);
        let left = contents.concat();
        assert_answers(&history, &left);
        fs::remove_dir_all(project.place(".stepmark/local/cache")).unwrap();
        assert_answers(&project.history(), &left);
    }
}
