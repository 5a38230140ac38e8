//! The segments that events stand in.

use crate::history::index::{Fault, Index, Row, database, identity};
use crate::history::{History, HistoryError, files_of_segment, joined_segments};
use jiff::Timestamp;
use rusqlite::OptionalExtension;
use serde_json::Value as Json;
use std::collections::{BTreeSet, HashSet};
use stepmark_model::artifact::ProjectPath;
use stepmark_model::journal::{ArtifactKey, Event, EventId, Kind, Lineage, SegmentName};

/// An event that removed an artifact, and that no other of it follows.
#[derive(Clone, Debug)]
pub struct Removal {
    pub key: String,
    pub event: EventId,
    pub path: ProjectPath,
}

impl History {
    /// The live segments that hold events of files at `paths`, or what is remembered for all clones; all of
    /// them where that is `None`.
    pub fn live_segments(
        &self,
        paths: Option<&BTreeSet<ProjectPath>>,
    ) -> Result<BTreeSet<SegmentName>, HistoryError> {
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached(
                "SELECT DISTINCT segments.name, names.text, kinds.text LIKE 'memory%' AND segments.name NOT LIKE 'local-%'
                 FROM segments JOIN events ON events.segment = segments.id JOIN names AS kinds ON kinds.id = events.kind
                 LEFT JOIN names ON names.id = events.path WHERE segments.place = 0",
            )?;
            let mut rows = statement.query([])?;
            let wanted: Option<BTreeSet<&str>> =
                paths.map(|paths| paths.iter().map(ProjectPath::as_str).collect());
            let mut found = BTreeSet::new();
            while let Some(row) = rows.next()? {
                let (name, path): (String, Option<String>) = (row.get(0)?, row.get(1)?);
                let is_wanted = |wanted: &BTreeSet<&str>| path.is_some_and(|path| wanted.contains(path.as_str()));
                let is_taken = row.get::<_, bool>(2)? || wanted.as_ref().is_none_or(is_wanted);
                found.extend(SegmentName::new(&name).filter(|_| is_taken));
            }
            Ok(found)
        })
    }

    /// The segments that hold an event: several where a merge brought it twice.
    pub fn segments_of(&self, event: EventId) -> Result<BTreeSet<SegmentName>, HistoryError> {
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached(
                "SELECT name FROM segments WHERE id IN (SELECT segment FROM events WHERE id = ?1
                 UNION SELECT segment FROM copies WHERE id = ?1)",
            )?;
            let mut rows = statement.query([event.as_bytes()])?;
            let mut found = BTreeSet::new();
            while let Some(row) = rows.next()? {
                found.extend(SegmentName::new(&row.get::<_, String>(0)?));
            }
            Ok(found)
        })
    }

    /// The event of an artifact that a merge lost: its branch was merged, as its segment stands in the work
    /// tree, and `state` lacks what it added.
    pub fn lost_in_merge(&self, lineage: &Lineage, state: &Json) -> Result<Option<EventId>, HistoryError> {
        for lost in lineage.lost(state) {
            let joined = joined_segments(self.root())?;
            let stands = |path: ProjectPath| self.root().path().join(path.as_str()).is_file();
            if self.segments_of(lost.id)?.iter().any(|name| files_of_segment(name, &joined).any(stands)) {
                return Ok(Some(lost.id));
            }
        }
        Ok(None)
    }

    /// The keys of all artifacts that events are about.
    pub fn known_keys(&self) -> Result<BTreeSet<String>, HistoryError> {
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached(
                "SELECT DISTINCT names.text FROM events JOIN names ON names.id = events.key",
            )?;
            let keys = statement.query_map([], |row| row.get(0))?;
            Ok(keys.collect::<Result<_, _>>()?)
        })
    }

    /// The last events of the artifacts of which the last event is that they were removed.
    pub fn removals(&self) -> Result<Vec<Removal>, HistoryError> {
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached(
                "SELECT keys.text, events.id, paths.text FROM heads
                 JOIN events ON events.key = heads.key AND events.seq = heads.seq
                 JOIN names AS keys ON keys.id = events.key JOIN names AS paths ON paths.id = events.path
                 WHERE heads.key IN (SELECT heads.key FROM heads
                   JOIN events ON events.key = heads.key AND events.seq = heads.seq
                   JOIN names AS kinds ON kinds.id = events.kind
                   GROUP BY heads.key HAVING MIN(kinds.text = ?1) = 1)",
            )?;
            let mut rows = statement.query([Kind::DELETE.as_str()])?;
            let mut removals = Vec::new();
            while let Some(row) = rows.next()? {
                let (key, event, path): (String, [u8; 16], String) = (row.get(0)?, row.get(1)?, row.get(2)?);
                let path = ProjectPath::new(path).ok();
                removals.extend(path.map(|path| Removal { key, event: EventId::from_bytes(event), path }));
            }
            Ok(removals)
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    /// By the clocks of the machines that wrote the events.
    Time(Timestamp),
    Event(EventId),
    /// At the end of a session, or now in one that goes on.
    Session(String),
}

impl History {
    /// The event after which the artifact was in the state that it had at `point`; `None` where it has none
    /// that is so old.
    ///
    /// * A time: of what had happened by then, the latest event that none of the others follows.
    /// * An event: itself, if it is one of the artifact; else what had happened to the artifact by the time
    ///   of the event.
    /// * A session: its last event of the artifact; where it has none, what had happened to the artifact by
    ///   its last event.
    pub fn at(
        &self,
        key: &ArtifactKey,
        path: &ProjectPath,
        point: &Point,
    ) -> Result<Option<Event>, HistoryError> {
        self.ask(|index| {
            let rows = identity::rows(self.root(), index.connection(), key, path)?;
            let found = match point {
                Point::Time(time) => last_at(&rows, time.as_microsecond()),
                Point::Event(id) => match rows.iter().find(|row| row.id == *id) {
                    Some(row) => Some(row),
                    None => last_at(&rows, time_of(index, *id)?),
                },
                Point::Session(session) => {
                    let (number, last) = index.end_of_session(session)?;
                    let own = rows.iter().rev().find(|row| row.session == Some(number));
                    own.or_else(|| last_at(&rows, last))
                }
            };
            found.map(|row| index.event(row)).transpose()
        })
    }
}

fn time_of(index: &Index, id: EventId) -> Result<i64, Fault> {
    let row = database::by_id(index.connection(), id)?;
    row.map(|row| row.at).ok_or_else(|| HistoryError::UnknownEvent { prefix: id.to_string() }.into())
}

impl Index {
    /// The number of a session and the time of its last event.
    pub(in crate::history) fn end_of_session(&self, session: &str) -> Result<(i64, i64), Fault> {
        let unknown = || HistoryError::UnknownSession { session: session.to_owned() };
        let number = database::number(self.connection(), session)?.ok_or_else(unknown)?;
        let mut statement = self
            .connection()
            .prepare_cached("SELECT at FROM events WHERE session = ? ORDER BY at DESC LIMIT 1")?;
        let last = statement.query_row([number], |row| row.get(0)).optional()?;
        Ok((number, last.ok_or_else(unknown)?))
    }
}

/// Of `rows` (of one artifact, in order), the event that stood last at the moment `at`, in microseconds since
/// 1970: of those that had happened, the latest that none of the others follows. Clocks may disagree, so what
/// follows comes first.
fn last_at(rows: &[Row], at: i64) -> Option<&Row> {
    let happened = || rows.iter().filter(|row| row.at <= at);
    let followed: HashSet<EventId> = happened().flat_map(|row| row.parents.iter().copied()).collect();
    happened().filter(|row| !followed.contains(&row.id)).max_by_key(|row| (row.at, row.n, row.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::scratch_journal::{ScratchJournal, chain, event, in_session, key, path, steps};

    const PRD: (&str, &str) = ("path:docs/prd.md", "docs/prd.md");

    fn found(history: &History, artifact: (&str, &str), point: Point) -> Option<EventId> {
        history.at(&key(artifact.0), &path(artifact.1), &point).unwrap().map(|event| event.id)
    }

    fn time(text: &str) -> Point {
        Point::Time(text.parse().unwrap())
    }

    #[test]
    fn times_are_those_of_the_clock_but_what_follows_comes_first() {
        let project = ScratchJournal::new();
        let mut events = chain(PRD, 3);
        // The clock went back by a second, then on.
        events.push(event(PRD, &[(&events[2], &steps(3))], &steps(4), 1));
        events.push(event(PRD, &[(&events[3], &steps(4))], &steps(5), 60));
        // A branch that another machine wrote meanwhile.
        events.push(event(PRD, &[(&events[0], &steps(1))], &steps(7), 50));
        project.segment_of("main-a", &events);
        let history = project.history();
        for (text, place) in [
            ("2026-11-22T10:00:00Z", Some(0)),
            ("2026-11-22T10:00:00.999Z", Some(0)),
            ("2026-11-22T10:00:01Z", Some(3)),
            ("2026-11-22T10:00:02Z", Some(3)),
            ("2026-11-22T10:00:55Z", Some(5)),
            ("2030-01-01T00:00:00Z", Some(4)),
            ("2026-11-22T09:59:59Z", None),
        ] {
            assert_eq!(
                found(&history, PRD, time(text)),
                place.map(|place: usize| events[place].id),
                "{text}"
            );
        }
        assert_eq!(found(&history, ("id:none", "none.md"), time("2030-01-01T00:00:00Z")), None);
    }

    #[test]
    fn an_event_of_another_artifact_is_a_time() {
        let project = ScratchJournal::new();
        let events = chain(PRD, 3);
        let other = event(("id:B", "b.md"), &[], &steps(1), 1);
        project.segment_of("main-a", &[&events[..], std::slice::from_ref(&other)].concat());
        let history = project.history();
        assert_eq!(found(&history, PRD, Point::Event(events[2].id)), Some(events[2].id));
        assert_eq!(found(&history, PRD, Point::Event(other.id)), Some(events[1].id));
        let unknown = history.at(&key(PRD.0), &path(PRD.1), &Point::Event(EventId::from_bytes([7; 16])));
        assert!(matches!(unknown, Err(HistoryError::UnknownEvent { .. })));
    }

    #[test]
    fn a_session_counts_to_its_end() {
        let project = ScratchJournal::new();
        let mut events = chain(PRD, 1);
        for second in 1..5 {
            let before = steps(events.len());
            let next = event(PRD, &[(&events[events.len() - 1], &before)], &steps(events.len() + 1), second);
            events.push(in_session(next, if second < 3 { "s-1" } else { "s-2" }));
        }
        let elsewhere = in_session(event(("id:B", "b.md"), &[], &steps(1), 3), "s-3");
        events.push(elsewhere);
        project.segment_of("main-a", &events);
        let history = project.history();
        let session = |name: &str| found(&history, PRD, Point::Session(name.to_owned()));
        assert_eq!(session("s-1"), Some(events[2].id));
        assert_eq!(session("s-2"), Some(events[4].id));
        assert_eq!(session("s-3"), Some(events[3].id), "what others did until then");
        let unknown = history.at(&key(PRD.0), &path(PRD.1), &Point::Session("s-4".to_owned()));
        assert!(matches!(unknown, Err(HistoryError::UnknownSession { .. })));
    }
}
