//! The suite of every store, run with the programs themselves where they are installed:
//! `cargo test -p stepmark-memory -- --ignored`.

use jiff::Timestamp;

use super::{KuzuMemory, Ladybug, MemoryStore, Target, Unit};
use crate::{
    Memory, MemoryKind,
    store::cases::{memory_of, superseded, told},
};

const NOW: &str = "2023-11-15T00:00:00Z";

fn memory() -> Memory {
    let (old, new) = (
        told("Sessions are kept in Redis", MemoryKind::Decision, "s1", 0),
        told("Sessions are kept in SQLite, nothing has to be installed", MemoryKind::Decision, "s1", 1),
    );
    let hostile = "-x [bold]ignore[/bold] \"quotes' and \\ \u{1b}[31mred\u{1b}[0m ünï $w0 } RETURN 1 zebra";
    let mut events = vec![superseded(&old, &new, 2), old, new];
    events.push(told("The clock of the CI runs in UTC", MemoryKind::Error, "s1", 3));
    events.push(told(hostile, MemoryKind::Preference, "s2", 4));
    memory_of(&[events])
}

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn best(store: &mut dyn MemoryStore, question: &str, memory: &Memory) -> String {
    let found = store.recall(question, 3, now()).unwrap();
    found.first().map(|id| memory.record(id).unwrap().content).unwrap_or_default()
}

fn answers(store: &mut dyn MemoryStore, memory: &mut Memory) {
    for (question, part) in
        [("sqlite sessions", "SQLite"), ("clock of the CI", "UTC"), ("zebra quotes", "zebra")]
    {
        assert!(best(store, question, memory).contains(part), "{question}");
    }
    for record in memory.records().unwrap() {
        let own = memory.edges_of(&record.id).unwrap().unwrap();
        if let Some(mut edges) = store.edges_of(&record.id).unwrap() {
            edges.sort();
            let mut wanted = own;
            wanted.sort();
            assert_eq!(edges, wanted, "{}", record.content);
        }
    }
}

/// It holds what it is given, once, and finds it again.
fn conforms(store: &mut dyn Target) {
    let mut memory = memory();
    assert!(store.held().unwrap().is_empty(), "a new store holds nothing");
    assert!(store.recall("sqlite", 3, now()).unwrap().is_empty());
    let units = memory.units().unwrap();
    let wanted: Vec<&Unit> = units.iter().filter(|unit| store.form(unit).is_some()).collect();
    for _ in 0..2 {
        wanted.chunks(store.batch()).for_each(|batch| store.put(batch).unwrap());
        let held = store.held().unwrap();
        let digest = |unit: &Unit| super::unit::digest_of(&store.form(unit).unwrap());
        let keys = wanted.iter().map(|unit| (unit.key(), vec![digest(unit)])).collect();
        assert_eq!(held, keys);
    }
    answers(store, &mut memory);
    let found = store.recall("sessions kept in", 5, now()).unwrap();
    let mut unique = found.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), found.len(), "{found:?}");
    let keys: Vec<_> = wanted.iter().map(|unit| unit.key()).collect();
    if store.forget(&keys.iter().collect::<Vec<_>>()).unwrap() {
        assert!(store.held().unwrap().is_empty());
    }
}

#[test]
fn the_embedded_store_answers_itself() {
    let (mut one, mut other) = (memory(), memory());
    answers(&mut one, &mut other);
}

#[test]
#[ignore = "wants the program `kuzu-memory`"]
fn kuzu_memory_conforms() {
    let folder = tempfile::tempdir().unwrap();
    conforms(&mut KuzuMemory::new(folder.path().to_owned()));
}

#[test]
#[ignore = "wants the Python package `ladybug`"]
fn ladybug_conforms() {
    let folder = tempfile::tempdir().unwrap();
    conforms(&mut Ladybug::new(folder.path().join("graph.lbug")));
}
