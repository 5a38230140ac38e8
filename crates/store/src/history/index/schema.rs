//! The tables of the index.

use std::time::Duration;

use rusqlite::Connection;

use crate::disk::cache_database::CacheLayout;

/// The index, in `.stepmark/local/cache/journal.db`.
pub(in crate::history) static LAYOUT: CacheLayout = CacheLayout {
    name: "journal.db",
    meaning: 6,
    definitions: || {
        let all = [TABLES, INDICES].map(|text| text.split(';').map(str::trim).filter(|sql| !sql.is_empty()));
        all.into_iter().flatten().map(str::to_owned).collect()
    },
    shadow_of: None,
    rows: "INSERT INTO names (id, text) VALUES (1, 'session-start'), (2, 'session-end')",
    page_cache: 48 * 1024,
    // Copying costs flushes, and a long log costs the next process the time to look through it.
    copied_at: 400,
    patience: Duration::from_secs(5),
};

/// The number in `names` of the kind `session-start`, so that an index can single it out.
pub(in crate::history) const SESSION_START: i64 = 1;
/// The number in `names` of the kind `session-end`.
pub(in crate::history) const SESSION_END: i64 = 2;

/// Events lie in the order of their artifacts (`key`; 0 for what is about none), so that those of one are
/// read at once. `path` of what is about none is that of the artifact that it speaks of, as an override does.
/// `state` holds 8 bytes of the digest after the event, to be compared with the event itself. `heads` are the
/// events that no other of the same key follows; `foreign_parents` are parents that events of a key have
/// under another key, or in no segment; `places` says which keys were seen at a path; `copies` says which
/// segments hold an event that another one held before; `named` holds the segments that the seal of one
/// names.
const TABLES: &str = "
    CREATE TABLE names (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
    CREATE TABLE segments (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, place INTEGER NOT NULL, pack TEXT,
        stat BLOB NOT NULL, is_settled INTEGER NOT NULL,
        header BLOB, is_known INTEGER, last BLOB, last_start INTEGER, end INTEGER, lines INTEGER, named TEXT
    );
    CREATE INDEX live_segments ON segments (place) WHERE place = 0;
    CREATE TABLE folder (stat BLOB NOT NULL);
    CREATE TABLE members (
        segment INTEGER NOT NULL, start INTEGER NOT NULL, compressed INTEGER NOT NULL,
        PRIMARY KEY (segment, start)
    ) WITHOUT ROWID;
    CREATE TABLE problems (
        segment INTEGER NOT NULL, line INTEGER NOT NULL, start INTEGER NOT NULL,
        word TEXT NOT NULL, reason TEXT NOT NULL
    );
    CREATE TABLE events (
        key INTEGER NOT NULL, seq INTEGER NOT NULL, id BLOB NOT NULL, path INTEGER NOT NULL,
        n INTEGER NOT NULL, at INTEGER NOT NULL, session INTEGER, kind INTEGER NOT NULL, state INTEGER,
        segment INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL, parents BLOB NOT NULL,
        PRIMARY KEY (key, seq)
    ) WITHOUT ROWID;
    CREATE TABLE heads (key INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (key, seq)) WITHOUT ROWID;
    CREATE TABLE foreign_parents (
        parent BLOB NOT NULL, key INTEGER NOT NULL, PRIMARY KEY (parent, key)
    ) WITHOUT ROWID;
    CREATE INDEX foreign_parents_by_key ON foreign_parents (key);
    CREATE TABLE places (path INTEGER NOT NULL, key INTEGER NOT NULL, PRIMARY KEY (path, key)) WITHOUT ROWID;
    CREATE TABLE copies (id BLOB NOT NULL, segment INTEGER NOT NULL, PRIMARY KEY (id, segment)) WITHOUT ROWID;
";

/// The indices that find events otherwise than by their artifact. Made after a large first filling, which is
/// much faster.
const INDICES: &str = "
    CREATE UNIQUE INDEX events_by_id ON events (id);
    CREATE INDEX events_by_segment ON events (segment);
    CREATE INDEX events_by_session ON events (session, at) WHERE session IS NOT NULL;
    CREATE INDEX events_by_time ON events (at);
    CREATE INDEX session_marks ON events (session, kind) WHERE kind IN (1, 2);
";

const INDEX_NAMES: [&str; 5] =
    ["events_by_id", "events_by_segment", "events_by_session", "events_by_time", "session_marks"];

/// Leaves out the indices for a large filling.
pub(in crate::history) fn drop_indices(connection: &Connection) -> rusqlite::Result<()> {
    INDEX_NAMES.iter().try_for_each(|index| connection.execute_batch(&format!("DROP INDEX {index}")))
}

/// Makes the indices that [`drop_indices`] left out.
pub(in crate::history) fn make_indices(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(INDICES)
}
