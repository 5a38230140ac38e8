//! The state of an artifact at a point of history.

use std::collections::HashSet;

use jiff::Timestamp;
use rusqlite::OptionalExtension;

use crate::history::{
    History, HistoryError, index::Fault, index::Index, index::Row, index::identity, index::row,
};
use stepmark_model::artifact::ProjectPath;
use stepmark_model::journal::{ArtifactKey, Event, EventId};

/// A point of history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    /// By the clocks of the machines that wrote the events.
    Time(Timestamp),
    /// After an event.
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
    ///
    /// # Errors
    /// When the event or the session is not known, or a segment cannot be read.
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
    let row = row::by_id(index.connection(), id)?;
    row.map(|row| row.at).ok_or_else(|| HistoryError::UnknownEvent { prefix: id.to_string() }.into())
}

impl Index {
    /// The number of a session and the time of its last event.
    pub(in crate::history) fn end_of_session(&self, session: &str) -> Result<(i64, i64), Fault> {
        let unknown = || HistoryError::UnknownSession { session: session.to_owned() };
        let number = row::number(self.connection(), session)?.ok_or_else(unknown)?;
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
    use crate::history::{
        scratch_journal::ScratchJournal, scratch_journal::chain, scratch_journal::event,
        scratch_journal::in_session, scratch_journal::key, scratch_journal::path, scratch_journal::steps,
    };

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
