//! The segments of events.

use crate::Error;
use crate::history::{unknown_event, unknown_session, unreadable};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fmt::Write as _,
    fs::File,
    io, thread,
};

use crate::{
    disk::{file_reading::FileStat, root::Root},
    history::{
        History, SegmentPlace, Selection, files_of_segment,
        index::{Fault, Index, Row, check, database},
        joined_segments,
        segments::{LONGEST_LINE, files},
    },
};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value as Json;
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    journal::{ArtifactKey, Event, EventId, Kind, Line, Lineage, SegmentHead, SegmentName},
};

/// A removal that no event of the artifact follows.
#[derive(Clone, Debug)]
pub struct Removal {
    pub key: String,
    pub event: EventId,
    pub path: ProjectPath,
}

impl History {
    /// Those with events of `paths` (`None`: all), or memory for all clones.
    pub fn live_segments(
        &self,
        paths: Option<&BTreeSet<ProjectPath>>,
    ) -> Result<BTreeSet<SegmentName>, Error> {
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

    /// Several if a merge brought the event twice.
    pub fn segments_of(&self, event: EventId) -> Result<BTreeSet<SegmentName>, Error> {
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

    /// The event that a merge lost: its segment is in the work tree, so its branch was merged, but `state`
    /// lacks its changes.
    pub fn lost_in_merge(&self, lineage: &Lineage, state: &Json) -> Result<Option<EventId>, Error> {
        for lost in lineage.lost(state) {
            let joined = joined_segments(self.root())?;
            let stands = |path: ProjectPath| self.root().path().join(path.as_str()).is_file();
            if self.segments_of(lost.id)?.iter().any(|name| files_of_segment(name, &joined).any(stands)) {
                return Ok(Some(lost.id));
            }
        }
        Ok(None)
    }

    pub fn known_keys(&self) -> Result<BTreeSet<String>, Error> {
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached(
                "SELECT DISTINCT names.text FROM events JOIN names ON names.id = events.key",
            )?;
            let keys = statement.query_map([], |row| row.get(0))?;
            Ok(keys.collect::<Result<_, _>>()?)
        })
    }

    /// Of artifacts whose last event is a removal.
    pub fn removals(&self) -> Result<Vec<Removal>, Error> {
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
    /// By the clocks of the events' machines.
    Time(Timestamp),
    Event(EventId),
    /// The end of a session, or now if it is open.
    Session(String),
}

impl History {
    /// The event that led to the artifact's state at `point`; `None` if it is not that old.
    ///
    /// * A time: of earlier events, the latest without a successor among them.
    /// * An event: itself, if it is the artifact's; otherwise by its time.
    /// * A session: its last event of the artifact; if it has none, by the time of its last event.
    pub fn at(&self, key: &ArtifactKey, path: &ProjectPath, point: &Point) -> Result<Option<Event>, Error> {
        self.ask(|index| {
            let rows = check::rows(self.root(), index.connection(), key, path)?;
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
    row.map(|row| row.at).ok_or_else(|| unknown_event(&id.to_string()).into())
}

impl Index {
    /// The session's number, and its last event's time.
    pub(in crate::history) fn end_of_session(&self, session: &str) -> Result<(i64, i64), Fault> {
        let unknown = || unknown_session(session);
        let number = database::number(self.connection(), session)?.ok_or_else(unknown)?;
        let mut statement = self
            .connection()
            .prepare_cached("SELECT at FROM events WHERE session = ? ORDER BY at DESC LIMIT 1")?;
        let last = statement.query_row([number], |row| row.get(0)).optional()?;
        Ok((number, last.ok_or_else(unknown)?))
    }
}

/// The last of an artifact's `rows` at `at` (microseconds since 1970): of earlier events, the latest without
/// a successor. Clocks may differ, so the order of events comes first.
fn last_at(rows: &[Row], at: i64) -> Option<&Row> {
    let happened = || rows.iter().filter(|row| row.at <= at);
    let followed: HashSet<EventId> = happened().flat_map(|row| row.parents.iter().copied()).collect();
    happened().filter(|row| !followed.contains(&row.id)).max_by_key(|row| (row.at, row.n, row.id))
}

const KEPT_FILES: usize = 64;

/// Events worth a thread, whose start takes as long as parsing some dozen.
const WORTH_A_THREAD: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::history) struct EventPlace {
    pub(in crate::history) segment: i64,
    pub(in crate::history) start: u64,
    /// Without the line feed.
    pub(in crate::history) length: u64,
}

#[derive(Debug)]
pub(in crate::history) struct EventReader {
    root: Root,
    files: HashMap<i64, OpenSegment>,
}

#[derive(Debug)]
struct OpenSegment {
    path: String,
    file: File,
}

impl EventReader {
    pub(in crate::history) fn new(root: Root) -> Self {
        Self { root, files: HashMap::new() }
    }

    /// Call it if files may have been replaced.
    pub(in crate::history) fn forget(&mut self) {
        self.files.clear();
    }

    pub(in crate::history) fn line(
        &mut self,
        connection: &Connection,
        place: EventPlace,
    ) -> Result<Vec<u8>, Fault> {
        self.open(connection, place.segment)?;
        let segment = self.files.get_mut(&place.segment).ok_or(Fault::Stale)?;
        if place.length > LONGEST_LINE {
            return Err(Fault::Stale);
        }
        let mut line = vec![0; usize::try_from(place.length).map_err(|_| Fault::Stale)?];
        match read_at(&mut segment.file, place.start, &mut line) {
            Ok(()) => Ok(line),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(Fault::Stale),
            Err(source) => Err(unreadable(&segment.path.clone(), source).into()),
        }
    }

    fn open(&mut self, connection: &Connection, segment: i64) -> Result<(), Fault> {
        if self.files.contains_key(&segment) {
            return Ok(());
        }
        let mut statement = connection.prepare_cached("SELECT name, place FROM segments WHERE id = ?")?;
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let found: Option<(String, i64)> = statement.query_row([segment], read).optional()?;
        let (name, place) = found.ok_or(Fault::Stale)?;
        let name = SegmentName::new(&name).ok_or(Fault::Stale)?;
        let place = SegmentPlace::of_code(place).ok_or(Fault::Stale)?;
        let path = place.file_of(&self.root, &name);
        let file = match place.open(&self.root, &name) {
            Err(error) if files::is_absent(&error) => return Err(Fault::Stale),
            file => file.map_err(|source| unreadable(&path.clone(), source))?,
        };
        if self.files.len() >= KEPT_FILES {
            self.files.clear();
        }
        self.files.insert(segment, OpenSegment { path, file });
        Ok(())
    }
}

pub(in crate::history) fn parse(line: &[u8], id: EventId) -> Result<Event, Fault> {
    match serde_json::from_slice::<Line>(line) {
        Ok(line) if line.event.id == id => Ok(line.event),
        _ => Err(Fault::Stale),
    }
}

pub(in crate::history) fn parse_all(lines: &[Vec<u8>], rows: &[Row]) -> Result<Vec<Event>, Fault> {
    let parse_part = |(lines, rows): (&[Vec<u8>], &[Row])| -> Result<Vec<Event>, Fault> {
        lines.iter().zip(rows).map(|(line, row)| parse(line, row.id)).collect()
    };
    let parts = thread::available_parallelism().map_or(1, usize::from).min(lines.len() / WORTH_A_THREAD);
    if parts < 2 {
        return parse_part((lines, rows));
    }
    let size = lines.len().div_ceil(parts);
    thread::scope(|scope| {
        let parts: Vec<_> = lines
            .chunks(size)
            .zip(rows.chunks(size))
            .map(|part| scope.spawn(move || parse_part(part)))
            .collect();
        let mut events = Vec::with_capacity(lines.len());
        for part in parts {
            // A panicked thread's events count as unreadable.
            events.extend(part.join().map_err(|_| Fault::Stale)??);
        }
        Ok(events)
    })
}

#[cfg(unix)]
fn read_at(file: &mut File, start: u64, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

#[cfg(not(unix))]
fn read_at(file: &mut File, start: u64, bytes: &mut [u8]) -> io::Result<()> {
    io::Seek::seek(file, io::SeekFrom::Start(start))?;
    io::Read::read_exact(file, bytes)
}

impl History {
    /// A digest of the segments and their lengths: if it is the same, so are the events.
    pub fn extent(&self) -> Result<FileHash, Error> {
        self.ask(|index| {
            let mut statement = index
                .connection()
                .prepare_cached("SELECT name, place, stat, last FROM segments ORDER BY name")?;
            let mut rows = statement.query([])?;
            let mut text = String::new();
            while let Some(row) = rows.next()? {
                let (name, place): (String, i64) = (row.get(0)?, row.get(1)?);
                let last = row.get::<_, Option<[u8; 32]>>(3)?.map(FileHash::from_digest);
                // Writing to a string never fails.
                let _infallible =
                    writeln!(text, "{name} {place} {} {last:?}", FileStat::from_bytes(&row.get(2)?));
            }
            Ok(FileHash::of(text.as_bytes()))
        })
    }

    pub fn event_ids(&self) -> Result<Vec<EventId>, Error> {
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached("SELECT id FROM events ORDER BY id")?;
            let ids = statement.query_map([], |row| Ok(EventId::from_bytes(row.get(0)?)))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    pub fn events_with(&self, ids: &[EventId]) -> Result<Vec<Event>, Error> {
        self.ask(|index| {
            let rows = ids.iter().filter_map(|id| database::by_id(index.connection(), *id).transpose());
            index.events(&rows.collect::<Result<Vec<_>, _>>()?)
        })
    }

    pub fn all_events(&self) -> Result<Vec<Event>, Error> {
        self.select(Selection::default())
    }
}

impl History {
    pub fn tips(&self, most: usize) -> Result<Vec<SegmentHead>, Error> {
        let names: BTreeSet<SegmentName> = files::list_sealed(self.root())?.into_keys().collect();
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached(
                "SELECT ends.name, ends.last, ends.named, segments.name FROM ends
                     JOIN segments ON segments.id = ends.segment WHERE segments.is_known",
            )?;
            let mut rows = statement.query([])?;
            let (mut heads, mut named) = (Vec::new(), HashSet::new());
            while let Some(row) = rows.next()? {
                let (name, last, follows): (String, [u8; 32], Option<String>) =
                    (row.get(0)?, row.get(1)?, row.get(2)?);
                let file = SegmentName::new(&row.get::<_, String>(3)?).filter(|name| names.contains(name));
                let Some((segment, _)) = SegmentName::new(&name).zip(file) else { continue };
                heads.push((follows.is_none(), SegmentHead { segment, last: FileHash::from_digest(last) }));
                named.extend(follows.iter().flat_map(|names| names.split(' ')).map(str::to_owned));
            }
            heads.retain(|(_, head)| !named.contains(head.segment.as_str()));
            heads.sort();
            heads.dedup();
            Ok(heads.into_iter().map(|(_, head)| head).take(most).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
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
        assert_eq!(unknown.unwrap_err().kind(), ErrorKind::Unknown);
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
        assert_eq!(unknown.unwrap_err().kind(), ErrorKind::Unknown);
    }
}

#[cfg(test)]
mod extent_tests {
    use super::*;
    use crate::history::scratch_journal::{ScratchJournal, chain, event, steps};
    use crate::history::verify_segments;
    use stepmark_model::journal::seal;

    #[test]
    fn what_was_appended_shows_in_the_extent_and_the_ids() {
        let project = ScratchJournal::new();
        let one = event(("id:A", "a"), &[], &steps(1), 1);
        let two = event(("id:A", "a"), &[(&one, &steps(1))], &steps(2), 2);
        let mut segment = project.segment_of("main-a", std::slice::from_ref(&one));
        let history = project.history();
        let before = history.extent().unwrap();
        assert_eq!(history.extent().unwrap(), before);
        assert_eq!(history.event_ids().unwrap(), [one.id]);
        segment.append(&two);
        assert_ne!(history.extent().unwrap(), before);
        let mut ids = [one.id, two.id];
        ids.sort();
        assert_eq!(history.event_ids().unwrap(), ids);
        assert_eq!(history.events_with(&[two.id]).unwrap(), std::slice::from_ref(&two));
        assert_eq!(history.all_events().unwrap(), [two, one]);
    }

    fn names(heads: &[SegmentHead]) -> Vec<&str> {
        heads.iter().map(|head| head.segment.as_str()).collect()
    }

    #[test]
    fn each_seal_takes_some_that_nobody_named() {
        let project = ScratchJournal::new();
        for name in ["a", "b", "c", "live"] {
            project.segment_of(name, &chain((name, name), 2));
        }
        ["a", "b", "c"].into_iter().for_each(|name| project.seal(name));
        let history = project.history();
        assert_eq!(names(&history.tips(9).unwrap()), ["a", "b", "c"]);
        let heads = history.tips(2).unwrap();
        let mut segment = project.segment_of("d", &chain(("d", "d"), 1));
        segment.append(&seal(&heads, "2026-11-22T10:00:00Z".parse().unwrap()));
        assert_eq!(names(&history.tips(9).unwrap()), ["a", "b", "c"], "it is not sealed yet");
        project.seal("d");
        let heads = history.tips(9).unwrap();
        assert_eq!(names(&heads), ["d", "c"], "first what names others");
        assert_eq!(heads[0].last, verify_segments(&project.root).unwrap().ends[&heads[0].segment].last);
        project.compact();
        assert_eq!(history.tips(9).unwrap(), heads);
        assert_eq!(project.history().tips(9).unwrap(), heads);
        let found = verify_segments(&project.root).unwrap();
        assert_eq!((found.events, found.problems), (9, Vec::new()), "a seal is no event");
        assert_eq!(history.all_events().unwrap().len(), 9);
        assert!(!history.renew_if_wrong(&verify_segments(&project.root).unwrap()).unwrap());
    }
}
