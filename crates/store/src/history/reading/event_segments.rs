//! The segments that events stand in.

use std::collections::BTreeSet;

use crate::history::{History, HistoryError, files_of_segment, packed_segments};
use serde_json::Value as Json;
use stepmark_model::artifact::ProjectPath;
use stepmark_model::journal::{EventId, Kind, Lineage, SegmentName};

/// An event that removed an artifact, and that no other of it follows.
#[derive(Clone, Debug)]
pub struct Removal {
    /// The key of the artifact.
    pub key: String,
    /// The event.
    pub event: EventId,
    /// The path that the artifact had.
    pub path: ProjectPath,
}

impl History {
    /// The live segments that hold events of files at `paths`, or what is remembered for all clones; all of
    /// them where that is `None`.
    ///
    /// # Errors
    /// When a segment cannot be read.
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
    ///
    /// # Errors
    /// When a segment cannot be read.
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
    ///
    /// # Errors
    /// When a segment cannot be read.
    pub fn lost_in_merge(&self, lineage: &Lineage, state: &Json) -> Result<Option<EventId>, HistoryError> {
        for lost in lineage.lost(state) {
            let packs = packed_segments(self.root())?;
            let stands = |path: ProjectPath| self.root().path().join(path.as_str()).is_file();
            if self.segments_of(lost.id)?.iter().any(|name| files_of_segment(name, &packs).any(stands)) {
                return Ok(Some(lost.id));
            }
        }
        Ok(None)
    }

    /// The keys of all artifacts that events are about.
    ///
    /// # Errors
    /// When a segment cannot be read.
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
    ///
    /// # Errors
    /// When a segment cannot be read.
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
