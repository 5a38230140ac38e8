//! Questions about events and artifacts.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::history::index::{Fault, Index, Row, database, identity, state_part};
use crate::history::{History, HistoryError, SegmentPlace, SegmentProblem};
use crate::history::{reading::event_reader, segments::source};
use stepmark_model::artifact::ProjectPath;
use stepmark_model::journal::{ArtifactKey, Digests, Event, EventId, Lineage, SegmentName};

/// The number of digits of an id that must be given at least.
const SHORTEST_PREFIX: usize = 4;
const CANDIDATES: usize = 8;

impl Index {
    pub(in crate::history) fn events(&self, rows: &[Row]) -> Result<Vec<Event>, Fault> {
        let mut reader = self.reader.borrow_mut();
        let lines = rows.iter().map(|row| reader.line(self.connection(), row.place));
        event_reader::parse_all(&lines.collect::<Result<Vec<_>, _>>()?, rows)
    }

    pub(in crate::history) fn event(&self, row: &Row) -> Result<Event, Fault> {
        event_reader::parse(&self.reader.borrow_mut().line(self.connection(), row.place)?, row.id)
    }
}

const MOST_TOGETHER: i64 = 512;

impl History {
    /// The events of the artifact with `key` at `path` that nothing follows, in the order (n, time, id);
    /// several after a merge, none where nothing is recorded.
    ///
    /// An artifact is known by its id; where no event has that id, by its path, so that `track`, or an id
    /// given by hand, keeps the history. What its events follow under an earlier key is part of its history.
    pub fn heads(&self, key: &ArtifactKey, path: &ProjectPath) -> Result<Vec<Event>, HistoryError> {
        self.ask(|index| index.events(&identity::heads(self.root(), index.connection(), key, path)?))
    }

    pub fn heads_and_ways(
        &self,
        key: &ArtifactKey,
        path: &ProjectPath,
    ) -> Result<Vec<(Event, bool)>, HistoryError> {
        self.ask(|index| {
            let rows = identity::heads(self.root(), index.connection(), key, path)?;
            let with_way = |event: Event| {
                let is_whole = database::reaches_snapshot(index.connection(), event.id)?;
                Ok((event, is_whole))
            };
            index.events(&rows)?.into_iter().map(with_way).collect()
        })
    }

    /// The paths at which the last events under `key` happened: several where files have one id.
    pub fn places(&self, key: &ArtifactKey) -> Result<Vec<ProjectPath>, HistoryError> {
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

    pub fn lineage(&self, key: &ArtifactKey, path: &ProjectPath) -> Result<Lineage, HistoryError> {
        let events =
            self.ask(|index| index.events(&identity::rows(self.root(), index.connection(), key, path)?))?;
        Ok(Lineage::new(events))
    }

    /// The latest event of the artifact after which its file showed the same state as `file` does; `None`
    /// stands for a file that is not there.
    pub fn find_state(
        &self,
        key: &ArtifactKey,
        path: &ProjectPath,
        file: Option<Digests>,
    ) -> Result<Option<Event>, HistoryError> {
        self.ask(|index| {
            let rows = identity::rows(self.root(), index.connection(), key, path)?;
            for row in rows.iter().rev().filter(|row| row.state == state_part(file)) {
                let event = index.event(row)?;
                if Digests::are_same_state(event.after, file) {
                    return Ok(Some(event));
                }
            }
            Ok(None)
        })
    }

    /// Returns for each of these files whether it shows the state after one of its last events, or has none:
    /// quick, since no event is read.
    pub fn are_at_heads(
        &self,
        files: &[(ArtifactKey, ProjectPath, Digests)],
    ) -> Result<Vec<bool>, HistoryError> {
        self.ask(|index| {
            let is_at_head = |(key, path, file): &(ArtifactKey, ProjectPath, Digests)| {
                let heads = identity::heads(self.root(), index.connection(), key, path)?;
                Ok(heads.is_empty() || heads.iter().any(|row| row.state == state_part(Some(*file))))
            };
            files.iter().map(is_at_head).collect()
        })
    }

    /// The paths at which artifacts without an id ended in this very state, in order: a file there may have
    /// been moved by another program.
    pub fn paths_that_ended_in(&self, file: Digests) -> Result<Vec<ProjectPath>, HistoryError> {
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

    pub fn contains(&self, id: EventId) -> Result<bool, HistoryError> {
        self.ask(|index| Ok(database::by_id(index.connection(), id)?.is_some()))
    }

    /// The event whose id starts with `prefix`: 4 hexadecimal digits or more.
    pub fn event(&self, prefix: &str) -> Result<Event, HistoryError> {
        let (low, high) = range_of(prefix)?;
        self.ask(|index| {
            let found = database::select(
                index.connection(),
                "WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3",
                (low.as_bytes(), high.as_bytes(), CANDIDATES),
            )?;
            match &found[..] {
                [] => Err(HistoryError::UnknownEvent { prefix: prefix.to_owned() }.into()),
                [row] => index.event(row),
                rows => {
                    let candidates = rows.iter().map(|row| row.id).collect();
                    Err(HistoryError::AmbiguousEvent { prefix: prefix.to_owned(), candidates }.into())
                }
            }
        })
    }

    /// The other events that were decided together with `event`, as its commit wrote them.
    pub fn decided_with(&self, event: &Event) -> Result<Vec<Event>, HistoryError> {
        let Some(first) = event.first_of_decision() else { return Ok(Vec::new()) };
        let mut found = self.ask(|index| {
            // A commit writes its events one behind the other.
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

    /// The frontmatter after the event: found from the nearest snapshot before it, so that at most
    /// [`Event::SNAPSHOT_EVERY`] events are read.
    pub fn state_after(&self, id: EventId) -> Result<Json, HistoryError> {
        let way = self.ask(|index| {
            let mut way: Vec<Event> = Vec::new();
            let mut next = Some(id);
            while let Some(row) =
                next.take().map(|id| database::by_id(index.connection(), id)).transpose()?.flatten()
            {
                let event = index.event(&row)?;
                next = event.parents.first().copied().filter(|_| event.snapshot.is_none());
                way.push(event);
                // Only forged events lead back to themselves: an id is made from those of the parents.
                next = next.filter(|next| way.iter().all(|event| event.id != *next));
            }
            Ok(way)
        })?;
        Lineage::new(way).state_after(id).map_err(|source| HistoryError::Replay { event: id, source })
    }

    /// Returns the problems of the segments, in the order of their names. That an event is what its id says
    /// is not looked at here.
    pub fn problems(&self) -> Result<Vec<SegmentProblem>, HistoryError> {
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

/// The first and the last id that start with `prefix`.
fn range_of(prefix: &str) -> Result<(EventId, EventId), HistoryError> {
    let is_hexadecimal = prefix.bytes().all(|byte| byte.is_ascii_hexdigit());
    let bound = |filler: &str| format!("{prefix}{}", filler.repeat(32 - prefix.len())).parse();
    if !is_hexadecimal || !(SHORTEST_PREFIX..=32).contains(&prefix.len()) {
        return Err(HistoryError::NoEventId { prefix: prefix.to_owned() });
    }
    match (bound("0"), bound("f")) {
        (Ok(low), Ok(high)) => Ok((low, high)),
        _ => Err(HistoryError::NoEventId { prefix: prefix.to_owned() }),
    }
}
