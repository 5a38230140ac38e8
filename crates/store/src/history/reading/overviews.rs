//! The sessions and the artifacts that history knows.

use jiff::Timestamp;

use crate::disk::file_stat::FileStat;
use crate::history::index::{Fault, Index, Row, database, identity};
use crate::history::{History, HistoryError, SegmentPlace, segments::files};
use stepmark_model::artifact::ProjectPath;
use stepmark_model::journal::{ArtifactKey, Event, EventId, SegmentName};

/// A session, as far as events tell of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    pub id: String,
    /// The event that began it; `None` where commands only named it.
    pub start: Option<Event>,
    /// The event that ended it; `None` for one that goes on or was interrupted.
    pub end: Option<Event>,
    pub first_at: Timestamp,
    pub last: Event,
    /// The number of its events, start and end among them.
    pub events: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownSegment {
    pub name: SegmentName,
    pub place: SegmentPlace,
    /// The name of its file, which holds others, too, where it was joined with them.
    pub file: SegmentName,
    /// The size of the file on the disk, in bytes.
    pub size: u64,
    pub events: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownArtifact {
    pub key: ArtifactKey,
    /// The path of the artifact after the last of its heads.
    pub path: ProjectPath,
    /// The events of this key that no other of this key follows, in the order (n, time, id).
    pub heads: Vec<EventId>,
    /// Set where an event of another key follows the last head: the artifact goes on under that key.
    pub goes_on: bool,
}

impl History {
    /// All sessions, in the order in which they began.
    pub fn sessions(&self) -> Result<Vec<Session>, HistoryError> {
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached(
                "SELECT session, COUNT(*), MIN(at) FROM events WHERE session IS NOT NULL
                 GROUP BY session ORDER BY MIN(at), session",
            )?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let rows: Vec<(i64, u64, i64)> = rows.collect::<Result<_, _>>()?;
            rows.into_iter().map(|(number, events, first)| index.session(number, events, first)).collect()
        })
    }

    pub fn end_of_session(&self, session: &str) -> Result<Option<Event>, HistoryError> {
        self.ask(|index| match database::number(index.connection(), session)? {
            Some(number) => index.mark(number, database::SESSION_END, "DESC"),
            None => Ok(None),
        })
    }

    /// All segments, in the order of their names. One that git carries is shown as that file, though this
    /// clone reads its copy.
    pub fn segments(&self) -> Result<Vec<KnownSegment>, HistoryError> {
        let tracked = files::list_sealed(self.root())?;
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached(
                "SELECT IFNULL(ends.name, segments.name), place, segments.name, stat, IFNULL(events, 0)
                 FROM segments LEFT JOIN ends ON ends.segment = segments.id ORDER BY 1, place",
            )?;
            let mut rows = statement.query([])?;
            let mut segments: Vec<KnownSegment> = Vec::new();
            while let Some(row) = rows.next()? {
                let named = |column| Ok::<_, Fault>(SegmentName::new(&row.get::<_, String>(column)?));
                let (name, file) = (named(0)?.ok_or(Fault::Stale)?, named(2)?.ok_or(Fault::Stale)?);
                let place = SegmentPlace::of_code(row.get(1)?).ok_or(Fault::Stale)?;
                let tracked = tracked.get(&name).filter(|_| place == SegmentPlace::Copy);
                let size = FileStat::from_bytes(&row.get(3)?).size;
                let (place, size) = tracked.map_or((place, size), |file| (file.place, file.size()));
                let found = KnownSegment { name, place, file, size, events: row.get(4)? };
                match segments.last_mut().filter(|last| last.name == found.name) {
                    // The copy of one that was joined.
                    Some(last) if last.place == SegmentPlace::Copy => *last = found,
                    Some(_) => {}
                    None => segments.push(found),
                }
            }
            Ok(segments)
        })
    }

    /// All artifacts, in the order of their keys.
    pub fn artifacts(&self) -> Result<Vec<KnownArtifact>, HistoryError> {
        self.artifacts_where("WHERE (key, seq) IN (SELECT key, seq FROM heads)")
    }

    /// Those that have several heads, as after a merge.
    pub fn forked(&self) -> Result<Vec<KnownArtifact>, HistoryError> {
        self.artifacts_where(
            "JOIN heads USING (key, seq)
             WHERE key IN (SELECT key FROM heads GROUP BY key HAVING COUNT(*) > 1)",
        )
    }

    fn artifacts_where(&self, condition: &str) -> Result<Vec<KnownArtifact>, HistoryError> {
        self.ask(|index| {
            let mut rows = database::select(index.connection(), condition, [])?;
            rows.sort_by_key(|row| (row.key, row.order()));
            let mut artifacts: Vec<KnownArtifact> = rows
                .chunk_by(|one, other| one.key == other.key)
                .map(|heads| index.artifact(heads))
                .collect::<Result<_, _>>()?;
            artifacts.sort_by(|one, other| one.key.cmp(&other.key));
            Ok(artifacts)
        })
    }
}

impl Index {
    fn session(&self, number: i64, events: u64, first: i64) -> Result<Session, Fault> {
        let last = self.one(number, "WHERE session = ? ORDER BY at DESC, n DESC, id DESC LIMIT 1")?;
        Ok(Session {
            id: database::name(self.connection(), number)?,
            start: self.mark(number, database::SESSION_START, "ASC")?,
            end: self.mark(number, database::SESSION_END, "DESC")?,
            first_at: Timestamp::from_microsecond(first).map_err(|_| Fault::Stale)?,
            last: last.ok_or(Fault::Stale)?,
            events,
        })
    }

    /// The first or last start or end of a session, as `order` says.
    fn mark(&self, session: i64, kind: i64, order: &str) -> Result<Option<Event>, Fault> {
        let condition =
            format!("WHERE session = ? AND kind = {kind} AND kind IN (1, 2) ORDER BY at {order} LIMIT 1");
        self.one(session, &condition)
    }

    fn one(&self, number: i64, condition: &str) -> Result<Option<Event>, Fault> {
        let rows = database::select(self.connection(), condition, [number])?;
        rows.first().map(|row| self.event(row)).transpose()
    }

    pub(in crate::history) fn artifact(&self, heads: &[Row]) -> Result<KnownArtifact, Fault> {
        let last = heads.last().ok_or(Fault::Stale)?;
        let path = database::name(self.connection(), last.path)?;
        let key = database::name(self.connection(), last.key)?;
        Ok(KnownArtifact {
            key: serde_json::from_value(key.into()).map_err(|_| Fault::Stale)?,
            path: ProjectPath::new(path).map_err(|_| Fault::Stale)?,
            heads: heads.iter().map(|row| row.id).collect(),
            goes_on: identity::goes_on(self.connection(), last.key, last.id)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::history::{
        scratch_journal::ScratchJournal, scratch_journal::chain, scratch_journal::event,
        scratch_journal::in_session, scratch_journal::steps,
    };
    use stepmark_model::journal::{Actor, EventDraft, Kind};

    fn mark(kind: Kind, session: &str, at: &str) -> Event {
        in_session(Event::new(EventDraft::new(kind), Actor::human("Ada"), at.parse().unwrap()), session)
    }

    #[test]
    fn sessions_are_told_by_their_marks_and_by_events_that_name_them() {
        let project = ScratchJournal::new();
        let start = mark(Kind::SESSION_START, "s-1", "2026-11-22T09:00:00Z");
        let end = mark(Kind::SESSION_END, "s-1", "2026-11-22T11:00:00Z");
        let work = chain(("id:A", "a.md"), 1).remove(0);
        let work = in_session(work, "s-1");
        let named = in_session(event(("id:B", "b.md"), &[], &steps(1), 5), "s-0");
        let outside = event(("id:C", "c.md"), &[], &steps(1), 6);
        project.segment_of("s-1-x", &[start.clone(), work.clone(), end.clone()]);
        project.segment_of("main-x", &[named.clone(), outside]);
        let history = project.history();
        assert_eq!(history.of_session("s-1").unwrap(), [start.clone(), work, end.clone()]);
        assert_eq!(history.of_session("s-7").unwrap(), []);
        assert_eq!(history.end_of_session("s-1").unwrap().as_ref(), Some(&end));
        assert!(["s-0", "s-7"].iter().all(|open| history.end_of_session(open).unwrap().is_none()));
        let sessions = history.sessions().unwrap();
        let whole = Session {
            id: "s-1".to_owned(),
            first_at: start.at,
            start: Some(start),
            last: end.clone(),
            end: Some(end),
            events: 3,
        };
        let first_at = named.at;
        let bare = Session { id: "s-0".to_owned(), start: None, end: None, first_at, last: named, events: 1 };
        assert_eq!(sessions, [whole, bare]);
    }

    #[test]
    fn artifacts_are_told_once_for_each_key() {
        let project = ScratchJournal::new();
        let untracked = chain(("path:a.md", "a.md"), 2);
        let state = json!({"id": "A", "stepsCompleted": [1, 2]});
        let tracked = event(("id:A", "b.md"), &[(&untracked[1], &steps(2))], &state, 9);
        let other = chain(("id:B", "docs/b.md"), 1);
        // The key goes on in a segment that is read before the one it goes on from.
        project.segment_of("main-a", std::slice::from_ref(&tracked));
        project.segment_of("main-b", &[untracked.clone(), other.clone()].concat());
        let history = project.history();
        let told = |history: &History| -> Vec<_> {
            let artifacts = history.artifacts().unwrap().into_iter();
            artifacts.map(|one| (one.key.to_string(), one.path.to_string(), one.heads, one.goes_on)).collect()
        };
        let artifact = |key: &str, path: &str, head: &Event, goes_on| {
            (key.to_owned(), path.to_owned(), vec![head.id], goes_on)
        };
        let wanted = [
            artifact("id:A", "b.md", &tracked, false),
            artifact("id:B", "docs/b.md", &other[0], false),
            artifact("path:a.md", "a.md", &untracked[1], true),
        ];
        assert_eq!(told(&history), wanted);
        std::fs::remove_file(project.file("main-a", SegmentPlace::Live)).unwrap();
        assert_eq!(told(&history), [wanted[1].clone(), artifact("path:a.md", "a.md", &untracked[1], false)]);
    }
}
