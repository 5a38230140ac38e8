//! The memory of a project, updated from its journal when opened.

use std::{io, time::Duration};

use jiff::Timestamp;
use rusqlite::Connection;
use stepmark_store::{
    disk::{CacheDatabase, CacheLayout, CacheUnavailable, is_corrupt},
    workspace::Workspace,
};

use super::{MemoryError, filling, reading};
use crate::{MemoryKind, MemoryRecord};

#[derive(Debug)]
pub struct Memory {
    pub(crate) connection: Connection,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    pub memories: u64,
    pub superseded: u64,
    pub nodes: u64,
    pub edges: u64,
    pub events: u64,
}

impl Memory {
    /// Held in memory if the cache cannot be written.
    pub fn open(workspace: &Workspace) -> Result<Self, MemoryError> {
        let extent = workspace.history().ask(|history| history.extent())?.to_string();
        if let Some(connection) = LAYOUT.open_to_read(workspace.root())
            && reading::extent(&connection).is_ok_and(|own| own.as_deref() == Some(extent.as_str()))
        {
            return Ok(Self { connection });
        }
        match Self::filled(workspace) {
            Err(MemoryError::Unavailable(CacheUnavailable::Files(error))) if is_no_place(&error) => {
                let connection = LAYOUT.in_memory()?.connection;
                filling::refresh(&connection, workspace)?;
                Ok(Self { connection })
            }
            Err(MemoryError::Database(error)) if is_corrupt(&error) => Self::rebuilt(workspace),
            opened => opened,
        }
    }

    pub fn is_there(workspace: &Workspace) -> bool {
        LAYOUT.is_there(workspace.root())
    }

    pub fn is_empty(&self) -> Result<bool, MemoryError> {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM memories)";
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    pub fn rebuilt(workspace: &Workspace) -> Result<Self, MemoryError> {
        let _lock = LAYOUT.lock(workspace.root()).map_err(CacheUnavailable::from)?;
        Self::of(LAYOUT.open(workspace.root())?.renew()?, workspace)
    }

    fn filled(workspace: &Workspace) -> Result<Self, MemoryError> {
        let _lock = LAYOUT.lock(workspace.root()).map_err(CacheUnavailable::from)?;
        Self::of(LAYOUT.open(workspace.root())?, workspace)
    }

    fn of(database: CacheDatabase, workspace: &Workspace) -> Result<Self, MemoryError> {
        filling::refresh(&database.connection, workspace)?;
        Ok(Self { connection: database.connection })
    }

    pub fn counts(&self) -> Result<Counts, MemoryError> {
        let sql = "SELECT (SELECT count(*) FROM memories), (SELECT count(DISTINCT old) FROM superseded),
            (SELECT count(*) FROM nodes), (SELECT count(*) FROM edges), (SELECT count(*) FROM seen)";
        Ok(self.connection.query_row(sql, [], |row| {
            let (memories, superseded, nodes) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Counts { memories, superseded, nodes, edges: row.get(3)?, events: row.get(4)? })
        })?)
    }

    pub fn record(&self, id: &str) -> Result<MemoryRecord, MemoryError> {
        let like = format!("{}*", id.replace(['*', '?', '['], ""));
        let mut found = reading::records(&self.connection, "WHERE id GLOB ?1 LIMIT 2", [like])?;
        match (found.pop(), found.is_empty()) {
            (Some(record), true) => Ok(record),
            (Some(_), false) => Err(MemoryError::Ambiguous { id: id.to_owned() }),
            (None, _) => Err(MemoryError::Unknown { id: id.to_owned() }),
        }
    }

    pub fn says(&self, content: &str) -> Result<bool, MemoryError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM memories
            WHERE content = ? AND id NOT IN (SELECT old FROM superseded))";
        Ok(self.connection.query_row(sql, [content], |row| row.get(0))?)
    }

    pub fn records(&self) -> Result<Vec<MemoryRecord>, MemoryError> {
        Ok(reading::records(&self.connection, "ORDER BY created_at, id", [])?)
    }

    /// Also ended ones; each with the ids of its replacements.
    pub fn newest_of(
        &self,
        kind: MemoryKind,
        most: usize,
    ) -> Result<Vec<(MemoryRecord, Vec<String>)>, MemoryError> {
        let condition = format!("WHERE kind = ? ORDER BY created_at DESC, id DESC LIMIT {most}");
        let records = reading::records(&self.connection, &condition, [kind.name()])?;
        let mut kept = Vec::new();
        for record in records {
            let others = self.superseded_by(&record.id)?;
            kept.push((record, others));
        }
        Ok(kept)
    }

    pub fn count_of(&self, kind: MemoryKind) -> Result<usize, MemoryError> {
        let sql = "SELECT count(*) FROM memories WHERE kind = ?";
        Ok(self.connection.query_row(sql, [kind.name()], |row| row.get(0))?)
    }

    /// In order: kind and name of a node, kind of the edge, kind and name of the other node.
    pub fn edges(&self) -> Result<Vec<[String; 5]>, MemoryError> {
        let mut statement = self.connection.prepare(
            "SELECT one.kind, one.name, edges.kind, other.kind, other.name FROM edges
             JOIN nodes AS one ON one.number = source JOIN nodes AS other ON other.number = target
             ORDER BY 1, 2, 3, 4, 5",
        )?;
        let row =
            |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?]);
        Ok(statement.query_map([], row)?.collect::<rusqlite::Result<_>>()?)
    }

    /// A checkpoint, or the end of a session, a flow or work on an artifact.
    pub fn last_milestone(&self) -> Result<Option<Timestamp>, MemoryError> {
        let at: Option<i64> =
            self.connection.query_row("SELECT max(at) FROM milestones", [], |row| row.get(0))?;
        Ok(at.and_then(|at| Timestamp::from_millisecond(at).ok()))
    }

    pub fn superseded_by(&self, id: &str) -> Result<Vec<String>, MemoryError> {
        Ok(reading::superseded_by(&self.connection, id)?)
    }
}

fn is_no_place(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::StorageFull
            | io::ErrorKind::NotFound
    )
}

pub(super) static LAYOUT: CacheLayout = CacheLayout {
    name: "memory.db",
    meaning: 2,
    definitions,
    shadow_of: Some("words"),
    rows: "",
    page_cache: 16 * 1024,
    copied_at: 1_000,
    patience: Duration::from_secs(20),
};

/// `seen` holds ids of events; `stamp` the extent of the journal. Times are milliseconds since 1970. Rows of
/// `memories` never change, except summaries.
fn definitions() -> Vec<String> {
    [
        "CREATE TABLE seen (id BLOB PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE stamp (extent TEXT)",
        "CREATE TABLE memories (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, type TEXT NOT NULL, content TEXT NOT NULL, rationale TEXT, decision TEXT, tags TEXT, importance REAL NOT NULL, confidence REAL NOT NULL, artifact TEXT, artifact_key TEXT, session TEXT, agent TEXT NOT NULL, git_commit TEXT, created_at INTEGER NOT NULL, valid_to INTEGER)",
        "CREATE INDEX memories_by_kind ON memories (kind, created_at)",
        "CREATE INDEX memories_by_session ON memories (session)",
        "CREATE VIRTUAL TABLE words USING fts5(content, rationale, decision, tags, content='memories', content_rowid='number', tokenize='porter unicode61 remove_diacritics 2')",
        "CREATE TABLE superseded (old TEXT NOT NULL, new TEXT NOT NULL, PRIMARY KEY (old, new)) WITHOUT ROWID",
        "CREATE TABLE nodes (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, label TEXT, labelled_at INTEGER, labelled_by TEXT, UNIQUE (kind, name))",
        "CREATE INDEX nodes_by_name ON nodes (name)",
        "CREATE INDEX nodes_by_label ON nodes (label)",
        "CREATE TABLE edges (source INTEGER NOT NULL, target INTEGER NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (source, target, kind)) WITHOUT ROWID",
        "CREATE INDEX edges_back ON edges (target)",
        "CREATE TABLE facts (event TEXT PRIMARY KEY, session TEXT NOT NULL, at INTEGER NOT NULL, text TEXT NOT NULL, agent TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE milestones (at INTEGER PRIMARY KEY)",
        "CREATE INDEX facts_by_session ON facts (session, at)",
    ]
    .map(str::to_owned)
    .to_vec()
}
