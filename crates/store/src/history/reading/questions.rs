//! Queries on events and artifacts.

use crate::history::{ambiguous_event, no_event_id, unknown_event};
use crate::{Error, ErrorKind};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use stepmark_model::journal::ReplayError;

use crate::{
    disk::root::Root,
    history::{
        History, KnownArtifact, SegmentPlace, SegmentProblem,
        index::{Fault, Index, Row, check, database, state_part},
        reading::event_segments,
        segments::source,
    },
};
use rusqlite::Connection;
use serde_json::Value as Json;
use stepmark_model::{
    artifact::ProjectPath,
    journal::{ArtifactKey, Digests, Event, EventId, Lineage, SegmentName},
};

/// In hexadecimal digits.
const SHORTEST_PREFIX: usize = 4;
const CANDIDATES: usize = 8;

impl Index {
    pub(in crate::history) fn events(&self, rows: &[Row]) -> Result<Vec<Event>, Fault> {
        let mut reader = self.reader.borrow_mut();
        let lines = rows.iter().map(|row| reader.line(self.connection(), row.place));
        event_segments::parse_all(&lines.collect::<Result<Vec<_>, _>>()?, rows)
    }

    pub(in crate::history) fn event(&self, row: &Row) -> Result<Event, Fault> {
        event_segments::parse(&self.reader.borrow_mut().line(self.connection(), row.place)?, row.id)
    }
}

const MOST_TOGETHER: i64 = 512;

impl History {
    /// Events of the artifact without a successor, ordered by (n, time, id): several after a merge, none
    /// without history.
    ///
    /// An artifact is known by its id; if no event has that id, by its path, so that `track`, or an id given
    /// by hand, keeps the history. Ancestors under earlier keys are included.
    pub fn heads(&self, key: &ArtifactKey, path: &ProjectPath) -> Result<Vec<Event>, Error> {
        self.ask(|index| index.events(&check::heads(self.root(), index.connection(), key, path)?))
    }

    pub fn heads_and_ways(&self, key: &ArtifactKey, path: &ProjectPath) -> Result<Vec<(Event, bool)>, Error> {
        self.ask(|index| {
            let rows = check::heads(self.root(), index.connection(), key, path)?;
            let with_way = |event: Event| {
                let is_whole = database::reaches_snapshot(index.connection(), event.id)?;
                Ok((event, is_whole))
            };
            index.events(&rows)?.into_iter().map(with_way).collect()
        })
    }

    /// Several if files share an id.
    pub fn places(&self, key: &ArtifactKey) -> Result<Vec<ProjectPath>, Error> {
        self.ask(|index| {
            let connection = index.connection();
            let number = database::number(connection, key.as_str())?;
            let heads = "WHERE key = ?1 AND seq IN (SELECT seq FROM heads WHERE key = ?1)";
            let mut places = Vec::new();
            for head in database::select(connection, heads, [number])? {
                places.extend(ProjectPath::new(database::name(connection, head.path)?));
            }
            Ok(places)
        })
    }

    pub fn lineage(&self, key: &ArtifactKey, path: &ProjectPath) -> Result<Lineage, Error> {
        let events =
            self.ask(|index| index.events(&check::rows(self.root(), index.connection(), key, path)?))?;
        Ok(Lineage::new(events))
    }

    /// The latest event after which the file was as `file` (`None`: no file).
    pub fn find_state(
        &self,
        key: &ArtifactKey,
        path: &ProjectPath,
        file: Option<Digests>,
    ) -> Result<Option<Event>, Error> {
        self.ask(|index| {
            let rows = check::rows(self.root(), index.connection(), key, path)?;
            for row in rows.iter().rev().filter(|row| row.state == state_part(file)) {
                let event = index.event(row)?;
                if Digests::are_same_state(event.after, file) {
                    return Ok(Some(event));
                }
            }
            Ok(None)
        })
    }

    /// True for a file in the state of one of its heads, or without history; reads no events.
    pub fn are_at_heads(&self, files: &[(ArtifactKey, ProjectPath, Digests)]) -> Result<Vec<bool>, Error> {
        self.ask(|index| {
            let is_at_head = |(key, path, file): &(ArtifactKey, ProjectPath, Digests)| {
                let heads = check::heads(self.root(), index.connection(), key, path)?;
                Ok(heads.is_empty() || heads.iter().any(|row| row.state == state_part(Some(*file))))
            };
            files.iter().map(is_at_head).collect()
        })
    }

    /// The former paths of artifacts without an id that ended in this state: one may have been moved.
    pub fn paths_that_ended_in(&self, file: Digests) -> Result<Vec<ProjectPath>, Error> {
        self.ask(|index| {
            let condition = "JOIN heads USING (key, seq) WHERE state = ?";
            let heads = database::select(index.connection(), condition, [state_part(Some(file))])?;
            let mut paths = BTreeSet::new();
            for event in index.events(&heads)? {
                let is_it = Digests::are_same_state(event.after, Some(file));
                paths.extend(
                    event
                        .artifact
                        .filter(|_| is_it)
                        .filter(|artifact| artifact.key.is_path())
                        .map(|artifact| artifact.path),
                );
            }
            Ok(paths.into_iter().collect())
        })
    }

    pub fn contains(&self, id: EventId) -> Result<bool, Error> {
        self.ask(|index| Ok(database::by_id(index.connection(), id)?.is_some()))
    }

    /// By a prefix of 4 or more hexadecimal digits.
    pub fn event(&self, prefix: &str) -> Result<Event, Error> {
        let (low, high) = range_of(prefix)?;
        self.ask(|index| {
            let found = database::select(
                index.connection(),
                "WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3",
                (low.as_bytes(), high.as_bytes(), CANDIDATES),
            )?;
            match &found[..] {
                [] => Err(unknown_event(prefix).into()),
                [row] => index.event(row),
                rows => {
                    let candidates: Vec<EventId> = rows.iter().map(|row| row.id).collect();
                    Err(ambiguous_event(prefix, &candidates).into())
                }
            }
        })
    }

    pub fn decided_with(&self, event: &Event) -> Result<Vec<Event>, Error> {
        let Some(first) = event.first_of_decision() else { return Ok(Vec::new()) };
        let mut found = self.ask(|index| {
            // A commit writes its events consecutively.
            let rows = database::select(
                index.connection(),
                "WHERE segment = (SELECT segment FROM events WHERE id = ?1)
                   AND start >= (SELECT start FROM events WHERE id = ?1) ORDER BY start LIMIT ?2",
                (first.as_bytes(), MOST_TOGETHER),
            )?;
            index.events(&rows)
        })?;
        found.retain(|other| other.id != event.id && other.first_of_decision() == Some(first));
        Ok(found)
    }

    /// Computed from the nearest snapshot before it, so that at most [`Event::SNAPSHOT_EVERY`] events are
    /// read.
    pub fn state_after(&self, id: EventId) -> Result<Json, Error> {
        let way = self.ask(|index| {
            let mut way: Vec<Event> = Vec::new();
            let mut next = Some(id);
            while let Some(row) =
                next.take().map(|id| database::by_id(index.connection(), id)).transpose()?.flatten()
            {
                let event = index.event(&row)?;
                next = event.parents.first().copied().filter(|_| event.snapshot.is_none());
                way.push(event);
                // Only forged events form cycles: an id is derived from those of the parents.
                next = next.filter(|next| way.iter().all(|event| event.id != *next));
            }
            Ok(way)
        })?;
        Lineage::new(way).state_after(id).map_err(|source| {
            let is_none = matches!(source, ReplayError::NoState { .. });
            // No state, or none to be trusted.
            let kind = if is_none { ErrorKind::Refused } else { ErrorKind::Io };
            Error::new(kind, format!("cannot find the state after event {id}")).because(source)
        })
    }

    /// By segment name. Does not verify that ids match their events.
    pub fn problems(&self) -> Result<Vec<SegmentProblem>, Error> {
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached(
                "SELECT segments.name, segments.place, line, start, word, reason
                 FROM problems JOIN segments ON segments.id = problems.segment ORDER BY segments.name, line",
            )?;
            let rows = statement.query_map([], |row| {
                let name: String = row.get(0)?;
                let word: String = row.get(4)?;
                let problem = source::of_words(&word, row.get(5)?);
                Ok((name, row.get(1)?, row.get(2)?, row.get(3)?, problem))
            })?;
            let mut problems = Vec::new();
            for row in rows {
                let (name, place, line, offset, problem) = row?;
                let segment = SegmentName::new(&name).ok_or(Fault::Stale)?;
                let place = SegmentPlace::of_code(place).ok_or(Fault::Stale)?;
                let file = place.file_of(self.root(), &segment);
                problems.push(SegmentProblem { segment, place, file, line, offset, problem });
            }
            Ok(problems)
        })
    }
}

fn range_of(prefix: &str) -> Result<(EventId, EventId), Error> {
    let is_hexadecimal = prefix.bytes().all(|byte| byte.is_ascii_hexdigit());
    let bound = |filler: &str| format!("{prefix}{}", filler.repeat(32 - prefix.len())).parse();
    if !is_hexadecimal || !(SHORTEST_PREFIX..=32).contains(&prefix.len()) {
        return Err(no_event_id(prefix));
    }
    match (bound("0"), bound("f")) {
        (Ok(low), Ok(high)) => Ok((low, high)),
        _ => Err(no_event_id(prefix)),
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection<'a> {
    pub artifact: Option<(&'a ArtifactKey, &'a ProjectPath)>,
    pub session: Option<&'a str>,
    pub limit: Option<usize>,
}

impl History {
    /// The latest first; effects always before their causes.
    pub fn select(&self, selection: Selection<'_>) -> Result<Vec<Event>, Error> {
        self.ask(|index| {
            let session =
                match selection.session.map(|name| database::number(index.connection(), name)).transpose()? {
                    Some(None) => return Ok(Vec::new()),
                    number => number.flatten(),
                };
            let limit = selection.limit.unwrap_or(usize::MAX);
            let rows = match (selection.artifact, session) {
                (Some((key, path)), _) => of_artifact((self.root(), index.connection()), key, path)?,
                (None, Some(session)) => {
                    by_time(database::select(index.connection(), "WHERE session = ?", [session])?)
                }
                (None, None) => {
                    // Includes the whole instant of the limit, so that the order of events decides.
                    let condition = "WHERE at >= IFNULL(
                        (SELECT at FROM events ORDER BY at DESC LIMIT 1 OFFSET ?), -9223372036854775808)";
                    let offset = i64::try_from(limit.saturating_sub(1)).unwrap_or(i64::MAX);
                    let mut rows = database::select(index.connection(), condition, [offset])?;
                    rows.sort_by_key(|row| (row.at, row.n, row.id));
                    rows
                }
            };
            let is_wanted = |row: &&Row| session.is_none() || row.session == session;
            let wanted: Vec<Row> = rows.iter().rev().filter(is_wanted).take(limit).cloned().collect();
            index.events(&wanted)
        })
    }

    pub fn known_below(&self, folder: &ProjectPath) -> Result<Vec<ProjectPath>, Error> {
        self.ask(|index| {
            let mut statement = index.connection().prepare_cached(
                "SELECT DISTINCT text FROM heads JOIN events USING (key, seq) JOIN names ON names.id = events.path
                 WHERE text >= ?1 AND text < ?2 ORDER BY text",
            )?;
            // `0` follows `/` in ASCII.
            let range = [format!("{folder}/"), format!("{folder}0")];
            let paths = statement.query_map(range, |row| row.get::<_, String>(0))?;
            let paths = paths.collect::<Result<Vec<_>, _>>()?;
            Ok(paths.into_iter().filter_map(|path| ProjectPath::new(path).ok()).collect())
        })
    }

    pub fn latest(&self, limit: usize) -> Result<Vec<Event>, Error> {
        self.select(Selection { limit: Some(limit), ..Selection::default() })
    }

    /// In order; empty if no event names the session.
    pub fn of_session(&self, session: &str) -> Result<Vec<Event>, Error> {
        let mut events = self.select(Selection { session: Some(session), ..Selection::default() })?;
        events.reverse();
        Ok(events)
    }

    /// Artifacts that may differ between the ends of two sessions: with events in either session, or between
    /// their last events. In path order, each once.
    pub fn touched(&self, one: &str, other: &str) -> Result<Vec<KnownArtifact>, Error> {
        self.ask(|index| {
            let (one, one_end) = index.end_of_session(one)?;
            let (other, other_end) = index.end_of_session(other)?;
            let mut statement = index.connection().prepare_cached(
                "SELECT key FROM events WHERE session IN (?1, ?2) AND key <> 0
                 UNION SELECT key FROM events WHERE at BETWEEN ?3 AND ?4 AND key <> 0",
            )?;
            let (from, to) = (one_end.min(other_end), one_end.max(other_end));
            let keys = statement.query_map([one, other, from, to], |row| row.get(0))?;
            let mut touched: BTreeMap<ProjectPath, KnownArtifact> = BTreeMap::new();
            for key in keys.collect::<Result<Vec<i64>, _>>()? {
                // Only forged events, which form a cycle, have no head.
                let Some(artifact) = index.artifact_of(key)? else { continue };
                // If an artifact continues under another key, that one has the whole history.
                let is_known = touched.get(&artifact.path).is_some_and(|known| !known.goes_on);
                if !is_known {
                    touched.insert(artifact.path.clone(), artifact);
                }
            }
            Ok(touched.into_values().collect())
        })
    }
}

/// Includes events that explain forced changes. By time, but effects after their causes.
fn of_artifact(
    (root, connection): (&Root, &Connection),
    key: &ArtifactKey,
    path: &ProjectPath,
) -> rusqlite::Result<Vec<Row>> {
    let mut rows = check::rows(root, connection, key, path)?;
    let paths: BTreeSet<i64> = rows.iter().map(|row| row.path).filter(|path| *path != 0).collect();
    let known: HashSet<EventId> = rows.iter().map(|row| row.id).collect();
    for path in paths {
        let told = database::select(connection, "WHERE key = 0 AND path = ?", [path])?;
        rows.extend(told.into_iter().filter(|row| !known.contains(&row.id)));
    }
    rows.sort_by_key(Row::order);
    // Clocks differ: an effect never precedes its cause.
    let mut times: HashMap<EventId, i64> = HashMap::new();
    for row in &rows {
        let after = row.parents.iter().filter_map(|parent| times.get(parent)).max();
        times.insert(row.id, after.map_or(row.at, |after| row.at.max(*after)));
    }
    rows.sort_by_key(|row| (times.get(&row.id).copied(), row.n, row.id));
    Ok(rows)
}

/// By time, then in the order of writing.
fn by_time(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| (row.at, row.place));
    rows
}

impl Index {
    fn artifact_of(&self, key: i64) -> Result<Option<KnownArtifact>, Fault> {
        let condition = "WHERE key = ?1 AND seq IN (SELECT seq FROM heads WHERE key = ?1)";
        let mut heads = database::select(self.connection(), condition, [key])?;
        heads.sort_by_key(Row::order);
        if heads.is_empty() { Ok(None) } else { self.artifact(&heads).map(Some) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{
        scratch_journal::ScratchJournal, scratch_journal::chain, scratch_journal::event,
        scratch_journal::in_session, scratch_journal::key, scratch_journal::path, scratch_journal::steps,
    };

    #[test]
    fn all_conditions_count() {
        let project = ScratchJournal::new();
        let prd = ("id:A", "a.md");
        let mut events = chain(prd, 2);
        let third = in_session(event(prd, &[(&events[1], &steps(2))], &steps(3), 2), "s-1");
        let other = in_session(event(("id:B", "b.md"), &[], &steps(1), 7), "s-1");
        events.extend([third, other]);
        project.segment_of("main-a", &events);
        let history = project.history();
        let (key, path) = (key("id:A"), path("a.md"));
        let artifact = Some((&key, &path));
        for (artifact, session, limit, wanted) in [
            (None, None, None, &[3, 2, 1, 0][..]),
            (None, None, Some(2), &[3, 2]),
            (artifact, None, None, &[2, 1, 0]),
            (artifact, None, Some(1), &[2]),
            (None, Some("s-1"), None, &[3, 2]),
            (None, Some("s-1"), Some(1), &[3]),
            (artifact, Some("s-1"), None, &[2]),
            (artifact, Some("none"), None, &[]),
        ] {
            let selection = Selection { artifact, session, limit };
            let wanted: Vec<Event> = wanted.iter().map(|place: &usize| events[*place].clone()).collect();
            assert_eq!(history.select(selection).unwrap(), wanted, "{selection:?}");
        }
    }

    #[test]
    fn what_happened_between_two_sessions_touches() {
        let project = ScratchJournal::new();
        let at = |name: &'static str, session: Option<&str>, second| {
            let made = event((name, &name[3..]), &[], &steps(1), second);
            session.map_or_else(|| made.clone(), |session| in_session(made.clone(), session))
        };
        let events = [
            at("id:before", None, 1),
            at("id:in-one", Some("s-1"), 2),
            at("id:end-of-one", Some("s-1"), 3),
            at("id:between", None, 4),
            at("id:in-two", Some("s-2"), 5),
            at("id:after", None, 6),
        ];
        project.segment_of("main-a", &events);
        let history = project.history();
        for (one, other) in [("s-1", "s-2"), ("s-2", "s-1")] {
            let touched = history.touched(one, other).unwrap();
            let touched: Vec<_> = touched.iter().map(|artifact| artifact.path.as_str()).collect();
            assert_eq!(touched, ["between", "end-of-one", "in-one", "in-two"]);
        }
        assert_eq!(history.touched("s-1", "s-9").unwrap_err().kind(), ErrorKind::Unknown);
    }
}
