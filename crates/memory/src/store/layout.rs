//! The tables.

use std::time::Duration;

use stepmark_store::disk::CacheLayout;

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

/// `seen` holds the ids of the events that are in; `stamp` the extent of the journal that they are. Times are
/// milliseconds since 1970. The rows of `memories` never change, but for those of summaries.
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
