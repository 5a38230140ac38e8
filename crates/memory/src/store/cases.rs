//! Whatever the order in which events come in, the rows are those of a store that is made anew.

use jiff::Timestamp;
use proptest::{collection::vec, prelude::*, sample::select};
use rusqlite::Connection;
use serde_json::json;
use stepmark_frontmatter::{Change, KeyPath, Operation, Segment};
use stepmark_model::{
    artifact::ProjectPath,
    journal::{ArtifactKey, ArtifactRef, Event, EventDraft, Kind},
};

use super::{Memory, filling::Filling, memory::LAYOUT};
use crate::{Draft, MemoryKind};

pub(crate) fn memory_of(parts: &[Vec<Event>]) -> Memory {
    let connection = LAYOUT.in_memory().unwrap().connection;
    for part in parts {
        let mut filling = Filling::new(&connection);
        part.iter().for_each(|event| filling.take(event).unwrap());
        filling.summarize().unwrap();
    }
    Memory { connection }
}

pub(crate) fn event(draft: EventDraft, session: &str, at: i64) -> Event {
    let at = Timestamp::from_millisecond(1_700_000_000_000 + at).unwrap();
    let mut event = Event::new(draft, "agent:dev".parse().unwrap(), at);
    event.session = Some(session.to_owned());
    event.sealed()
}

pub(crate) fn told(content: &str, kind: MemoryKind, session: &str, at: i64) -> Event {
    let draft = Draft { content: content.to_owned(), kind: Some(kind), ..Draft::default() };
    event(EventDraft::new(Kind::of("memory")).with("memory", json!(draft)), session, at)
}

pub(crate) fn superseded(old: &Event, new: &Event, at: i64) -> Event {
    let draft = EventDraft::new(Kind::of("memory-superseded"));
    event(draft.with("superseded", old.id.to_string()).with("by", new.id.to_string()), "s1", at)
}

fn moved(path: &str, status: &str, session: &str, at: i64) -> Event {
    let mut event = event(EventDraft::new(Kind::CHANGE), session, at);
    let path: ProjectPath = path.parse().unwrap();
    event.artifact = Some(ArtifactRef { key: ArtifactKey::of_id("STORY-1"), path, was: None });
    let op = Operation::Set { old: "draft".into(), new: status.into() };
    event.changes = vec![Change { path: KeyPath(vec![Segment::Key("status".to_owned())]), op }];
    event.reason = Some("because".to_owned());
    event.sealed()
}

fn rows(memory: &Memory) -> Vec<String> {
    let mut rows = Vec::new();
    for sql in [
        "SELECT * FROM (SELECT id, kind, type, content, session, created_at, valid_to FROM memories) ORDER BY 1",
        "SELECT old, new FROM superseded ORDER BY 1, 2",
        "SELECT kind, name, label FROM nodes ORDER BY 1, 2",
        "SELECT a.kind, a.name, e.kind, b.kind, b.name FROM edges e JOIN nodes a ON a.number = source JOIN nodes b ON b.number = target ORDER BY 1, 2, 3, 4, 5",
        "SELECT event, session, at, text, agent FROM facts ORDER BY 1",
        "SELECT at FROM milestones ORDER BY 1",
        "SELECT m.id FROM words JOIN memories m ON m.number = words.rowid WHERE words MATCH 'because OR use OR session' ORDER BY 1",
    ] {
        rows.extend(listed(&memory.connection, sql));
    }
    rows
}

fn listed(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let value = |place| row.get::<_, rusqlite::types::Value>(place).unwrap();
        Ok(format!("{:?}", (0..columns).map(value).collect::<Vec<_>>()))
    };
    statement.query_map([], row).unwrap().map(Result::unwrap).collect()
}

/// Events, in the order in which they happen.
fn happenings() -> impl Strategy<Value = Vec<Event>> {
    let step =
        (0..5_u8, select(vec!["s1", "s2"]), select(vec!["a.md", "b.md", "docs/a.md"]), "use [a-z]{1,8}");
    vec(step, 1..30).prop_map(|steps| {
        let mut events: Vec<Event> = Vec::new();
        for (at, (what, session, path, text)) in (0..).zip(steps) {
            let told_before: Vec<Event> =
                events.iter().filter(|event| event.kind.as_str() == "memory").cloned().collect();
            events.push(match (what, &told_before[..]) {
                (0, [first, .., last]) => superseded(first, last, at),
                (1, _) => moved(path, "blocked", session, at),
                (2, _) => moved(path, "done", session, at),
                (3, _) => event(EventDraft::new(Kind::SESSION_END), session, at),
                _ => told(&text, MemoryKind::Decision, session, at),
            });
        }
        events
    })
}

proptest! {
    #[test]
    fn any_order_gives_the_rows_of_a_rebuild(
        (events, shuffled, cut) in happenings().prop_flat_map(|events| {
            let shuffled = Just(events.clone()).prop_shuffle();
            (Just(events), shuffled, 0..30_usize)
        })
    ) {
        let whole = memory_of(&[events]);
        let (first, rest) = shuffled.split_at(cut.min(shuffled.len()));
        // As a clone has them that knew one part, pulled the other, and then saw all again.
        let parts = memory_of(&[first.to_vec(), rest.to_vec(), shuffled.clone()]);
        prop_assert_eq!(rows(&whole), rows(&parts));
    }
}
