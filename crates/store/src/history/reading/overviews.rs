//! Overviews of sessions and artifacts.

use crate::Error;
use crate::history::{no_index, restless};
use std::cell::{Cell, RefCell};

use crate::{
    disk::{cache_database, file_reading::FileStat, root::Root},
    history::{
        SegmentPlace, VerifiedSegments,
        index::{Fault, Index, LAYOUT, Row, catch_up, check, database},
        segments::files,
    },
};
use jiff::Timestamp;
use stepmark_model::{
    artifact::ProjectPath,
    journal::{ArtifactKey, Event, EventId, SegmentName},
};

#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    pub id: String,
    /// `None` if commands only named the session.
    pub start: Option<Event>,
    /// `None` if it is open, or was interrupted.
    pub end: Option<Event>,
    pub first_at: Timestamp,
    pub last: Event,
    /// Includes start and end.
    pub events: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownSegment {
    pub name: SegmentName,
    pub place: SegmentPlace,
    /// A joined file has others, too.
    pub file: SegmentName,
    /// In bytes.
    pub size: u64,
    pub events: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownArtifact {
    pub key: ArtifactKey,
    /// After the last of its heads.
    pub path: ProjectPath,
    /// Events without a successor under this key, ordered by (n, time, id).
    pub heads: Vec<EventId>,
    /// True if the last head has a successor under another key: the artifact continues there.
    pub goes_on: bool,
}

impl History {
    /// In the order of their beginnings.
    pub fn sessions(&self) -> Result<Vec<Session>, Error> {
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

    pub fn end_of_session(&self, session: &str) -> Result<Option<Event>, Error> {
        self.ask(|index| match database::number(index.connection(), session)? {
            Some(number) => index.mark(number, database::SESSION_END, "DESC"),
            None => Ok(None),
        })
    }

    /// In name order. Shows the tracked file, even if this clone reads its copy.
    pub fn segments(&self) -> Result<Vec<KnownSegment>, Error> {
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
                    // The copy of a joined segment.
                    Some(last) if last.place == SegmentPlace::Copy => *last = found,
                    Some(_) => {}
                    None => segments.push(found),
                }
            }
            Ok(segments)
        })
    }

    /// In key order.
    pub fn artifacts(&self) -> Result<Vec<KnownArtifact>, Error> {
        self.artifacts_where("WHERE (key, seq) IN (SELECT key, seq FROM heads)")
    }

    pub fn forked(&self) -> Result<Vec<KnownArtifact>, Error> {
        self.artifacts_where(
            "JOIN heads USING (key, seq)
             WHERE key IN (SELECT key FROM heads GROUP BY key HAVING COUNT(*) > 1)",
        )
    }

    fn artifacts_where(&self, condition: &str) -> Result<Vec<KnownArtifact>, Error> {
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
            goes_on: check::goes_on(self.connection(), last.key, last.id)?,
        })
    }
}

/// Attempts at a query if files or the database change or fail.
const ATTEMPTS: u32 = 6;

/// A project's journal: every query first indexes what was appended.
///
/// Writes only the index in `.stepmark/local/cache/`, and not even that without a journal. A handle is for
/// one thread; opening another is cheap.
#[derive(Debug)]
pub struct History {
    root: Root,
    index: RefCell<Option<Index>>,
    /// True after the index on disk failed.
    is_in_memory: Cell<bool>,
}

impl History {
    pub fn open(root: &Root) -> Result<Self, Error> {
        let history = Self { root: root.clone(), index: RefCell::new(None), is_in_memory: Cell::new(false) };
        history.ask(|_| Ok(()))?;
        Ok(history)
    }

    pub const fn root(&self) -> &Root {
        &self.root
    }

    /// Updates the index, then queries. If the index or a segment fails meanwhile, retries: first on the same
    /// index, then on a new one, then in memory.
    pub(in crate::history) fn ask<T>(
        &self,
        question: impl Fn(&Index) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        self.ask_watched(question, || {})
    }

    /// Calls `reached` at the last point where another process can empty the index; a hook for tests.
    pub(in crate::history) fn ask_watched<T>(
        &self,
        question: impl Fn(&Index) -> Result<T, Fault>,
        reached: impl Fn(),
    ) -> Result<T, Error> {
        let mut stale = 0;
        for _ in 0..ATTEMPTS {
            self.ensure_index()?;
            let answer = {
                let index = self.index.borrow();
                // `ensure_index` has just made it.
                let Some(index) = index.as_ref() else { continue };
                catch_up::run(index, &self.root).and_then(|()| {
                    reached();
                    // One snapshot for the whole query.
                    let _snapshot = index.connection().unchecked_transaction()?;
                    if catch_up::is_emptied(index, &self.root)? {
                        return Ok(None);
                    }
                    question(index).map(Some)
                })
            };
            match answer {
                Ok(Some(answer)) => return Ok(answer),
                // It is filled again.
                Ok(None) => {}
                Err(Fault::Failed(error)) => return Err(error),
                Err(Fault::Database(error)) => self.give_up_index(error)?,
                Err(Fault::Stale) => {
                    stale += 1;
                    // File numbers may have changed.
                    if let Some(index) = self.index.borrow().as_ref() {
                        index.reader.borrow_mut().forget();
                    }
                    // Once may be a file sealed meanwhile; twice is an inconsistent index.
                    if stale > 1 {
                        self.discard_index();
                    }
                }
            }
        }
        Err(restless())
    }

    fn ensure_index(&self) -> Result<(), Error> {
        let mut index = self.index.borrow_mut();
        // A project without a journal has an empty index, replaced once there are events.
        let wants_disk = !self.is_in_memory.get() && files::has_folder(&self.root);
        if index.as_ref().is_some_and(|index| index.database.is_on_disk() || !wants_disk) {
            return Ok(());
        }
        *index = None;
        if wants_disk {
            match LAYOUT.open(&self.root) {
                Ok(opened) => {
                    *index = Some(Index::new(opened, &self.root));
                    return Ok(());
                }
                Err(_) => self.is_in_memory.set(true),
            }
        }
        let opened = LAYOUT.in_memory().map_err(no_index)?;
        *index = Some(Index::new(opened, &self.root));
        Ok(())
    }

    /// Rebuilds an index that contradicts the segments; returns whether it did.
    pub fn renew_if_wrong(&self, verified: &VerifiedSegments) -> Result<bool, Error> {
        let is_wrong = !self.ask(|index| check::is_right(index, verified))?;
        if is_wrong {
            self.discard_index();
        }
        Ok(is_wrong)
    }

    /// Rebuilds a damaged database; otherwise this run works in memory.
    fn give_up_index(&self, error: rusqlite::Error) -> Result<(), Error> {
        let was_in_memory = self.is_in_memory.get();
        if cache_database::is_corrupt(&error) && !was_in_memory {
            self.discard_index();
            return Ok(());
        }
        if was_in_memory {
            return Err(no_index(error));
        }
        *self.index.borrow_mut() = None;
        self.is_in_memory.set(true);
        Ok(())
    }

    /// If that fails, this run works in memory.
    fn discard_index(&self) {
        let index = self.index.borrow_mut().take().filter(|index| index.database.is_on_disk());
        match index.map(|index| index.database.renew()) {
            Some(Ok(renewed)) => *self.index.borrow_mut() = Some(Index::new(renewed, &self.root)),
            Some(Err(_)) => self.is_in_memory.set(true),
            None => {}
        }
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
