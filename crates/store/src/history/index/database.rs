//! The database of event positions: on disk if possible, otherwise in memory.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    time::Duration,
};

use crate::{
    Error,
    disk::{
        cache_database::{CacheDatabase, CacheLayout},
        root::Root,
    },
    history::{
        EventReader,
        index::check,
        reading::EventPlace,
        segments::{ReadLine, source},
    },
};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use stepmark_model::journal::{Digests, Event, EventId};

#[derive(Debug)]
pub(in crate::history) struct Index {
    pub(in crate::history) database: CacheDatabase,
    pub(in crate::history) reader: RefCell<EventReader>,
}

#[derive(Debug)]
pub(in crate::history) enum Fault {
    /// Another database may work.
    Database(rusqlite::Error),
    /// A segment is not as the index says.
    Stale,
    Failed(Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Index {
    pub(in crate::history) fn new(database: CacheDatabase, root: &Root) -> Self {
        Self { database, reader: RefCell::new(EventReader::new(root.clone())) }
    }

    pub(in crate::history) const fn connection(&self) -> &Connection {
        &self.database.connection
    }

    pub(in crate::history) fn write(&self) -> rusqlite::Result<Transaction<'_>> {
        Transaction::new_unchecked(self.connection(), TransactionBehavior::Immediate)
    }
}

pub(in crate::history) static LAYOUT: CacheLayout = CacheLayout {
    name: "journal.db",
    meaning: 7,
    definitions: || {
        let all = [TABLES, INDICES].map(|text| text.split(';').map(str::trim).filter(|sql| !sql.is_empty()));
        all.into_iter().flatten().map(str::to_owned).collect()
    },
    shadow_of: None,
    rows: "INSERT INTO names (id, text) VALUES (1, 'session-start'), (2, 'session-end')",
    page_cache: 48 * 1024,
    // Checkpoints cost flushes; a long log slows the next process.
    copied_at: 400,
    patience: Duration::from_secs(5),
};

/// The number of the kind `session-start` in `names`, fixed so that an index can single it out.
pub(in crate::history) const SESSION_START: i64 = 1;
/// The number of the kind `session-end` in `names`.
pub(in crate::history) const SESSION_END: i64 = 2;

/// Events are clustered by artifact (`key`; 0 for none), so that one's are read at once. Without an artifact,
/// `path` is that of the artifact it refers to, as in an override. `state` is 8 bytes of the digest after the
/// event, to be compared with the event itself. `heads`: events without a successor of the same key;
/// `foreign_parents`: parents under another key, or in no segment; `places`: keys seen at a path; `copies`:
/// segments that repeat an event; `ends`: each segment's last line in a file, and the segments that its seal
/// names.
const TABLES: &str = "
    CREATE TABLE names (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
    CREATE TABLE segments (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, place INTEGER NOT NULL,
        stat BLOB NOT NULL, is_settled INTEGER NOT NULL,
        header BLOB, is_known INTEGER, last BLOB, last_start INTEGER, end INTEGER, lines INTEGER
    );
    CREATE INDEX live_segments ON segments (place) WHERE place = 0;
    CREATE TABLE folder (stat BLOB NOT NULL);
    CREATE TABLE ends (
        segment INTEGER NOT NULL, name TEXT NOT NULL, last BLOB NOT NULL, events INTEGER NOT NULL, named TEXT,
        PRIMARY KEY (segment, name)
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

/// Indices other than by artifact; created after a large first filling, which is much faster.
const INDICES: &str = "
    CREATE UNIQUE INDEX events_by_id ON events (id);
    CREATE INDEX events_by_segment ON events (segment);
    CREATE INDEX events_by_session ON events (session, at) WHERE session IS NOT NULL;
    CREATE INDEX events_by_time ON events (at);
    CREATE INDEX session_marks ON events (session, kind) WHERE kind IN (1, 2);
";

const INDEX_NAMES: [&str; 5] =
    ["events_by_id", "events_by_segment", "events_by_session", "events_by_time", "session_marks"];

pub(in crate::history) fn drop_indices(connection: &Connection) -> rusqlite::Result<()> {
    INDEX_NAMES.iter().try_for_each(|index| connection.execute_batch(&format!("DROP INDEX {index}")))
}

pub(in crate::history) fn make_indices(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(INDICES)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::history) struct Row {
    /// A number in `names`; 0 for no artifact.
    pub(in crate::history) key: i64,
    pub(in crate::history) seq: i64,
    pub(in crate::history) id: EventId,
    /// A number in `names`; 0 for no artifact.
    pub(in crate::history) path: i64,
    pub(in crate::history) n: u64,
    /// In microseconds since 1970.
    pub(in crate::history) at: i64,
    pub(in crate::history) session: Option<i64>,
    /// A part of the digest of the state after it; `None` if there is no file.
    pub(in crate::history) state: Option<i64>,
    pub(in crate::history) place: EventPlace,
    pub(in crate::history) parents: Vec<EventId>,
}

/// In the order of [`Row::of`].
pub(in crate::history) const COLUMNS: &str =
    "key, seq, id, path, n, at, session, state, segment, start, length, parents";

impl Row {
    pub(in crate::history) fn ends(&self) -> impl Iterator<Item = EventId> {
        std::iter::once(self.id).chain(self.parents.iter().copied())
    }

    pub(in crate::history) fn of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let parents = row.get_ref(11)?.as_blob()?;
        Ok(Self {
            key: row.get(0)?,
            seq: row.get(1)?,
            id: EventId::from_bytes(row.get(2)?),
            path: row.get(3)?,
            n: row.get(4)?,
            at: row.get(5)?,
            session: row.get(6)?,
            state: row.get(7)?,
            place: EventPlace { segment: row.get(8)?, start: row.get(9)?, length: row.get(10)? },
            parents: parents.as_chunks().0.iter().map(|id| EventId::from_bytes(*id)).collect(),
        })
    }

    /// The sort key of [`Lineage`](stepmark_model::journal::Lineage).
    pub(in crate::history) const fn order(&self) -> (u64, i64, EventId) {
        (self.n, self.at, self.id)
    }
}

pub(in crate::history) fn state_part(digests: Option<Digests>) -> Option<i64> {
    digests.map(|digests| {
        let bytes = digests.state.map_or(*digests.file.as_bytes(), |state| *state.as_bytes());
        let mut part = [0; 8];
        part.copy_from_slice(&bytes[..8]);
        i64::from_be_bytes(part)
    })
}

/// `None` if no event has the name.
pub(in crate::history) fn number(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM names WHERE text = ?")?;
    statement.query_row([name], |row| row.get(0)).optional()
}

pub(in crate::history) fn name(connection: &Connection, number: i64) -> rusqlite::Result<String> {
    let mut statement = connection.prepare_cached("SELECT text FROM names WHERE id = ?")?;
    statement.query_row([number], |row| row.get(0))
}

/// `condition` is SQL after `FROM events`.
pub(in crate::history) fn select(
    connection: &Connection,
    condition: &str,
    parameters: impl rusqlite::Params,
) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM events {condition}"))?;
    statement.query_map(parameters, Row::of)?.collect()
}

/// In the order of indexing.
pub(in crate::history) fn of_key(connection: &Connection, key: i64) -> rusqlite::Result<Vec<Row>> {
    select(connection, "WHERE key = ?", [key])
}

pub(in crate::history) fn by_id(connection: &Connection, id: EventId) -> rusqlite::Result<Option<Row>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM events WHERE id = ?"))?;
    statement.query_row([id.as_bytes()], Row::of).optional()
}

/// True if all events from `id` back to the last one with a snapshot by its number, or without parents,
/// exist. Snapshots for other reasons are not seen, so a yes is certain and a no is not.
pub(in crate::history) fn reaches_snapshot(connection: &Connection, id: EventId) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE way(n, parent, is_after_snapshot) AS (
             SELECT n, substr(parents, 1, 16), 1 FROM events WHERE id = ?1
             UNION ALL
             SELECT events.n, substr(events.parents, 1, 16), events.n / ?2 = way.n / ?2
             FROM way JOIN events ON events.id = way.parent WHERE way.is_after_snapshot)
         SELECT 1 FROM way WHERE NOT is_after_snapshot OR length(parent) = 0",
    )?;
    statement.exists((id.as_bytes(), Event::SNAPSHOT_EVERY))
}

/// In bytes of segments: from here on an empty table is filled first and indexed after.
const LARGE: u64 = 4 * 1024 * 1024;

pub(in crate::history) struct Filling<'index> {
    connection: &'index Connection,
    names: HashMap<String, i64>,
    next: HashMap<i64, i64>,
    fresh: HashMap<i64, Vec<check::Fresh>>,
    /// All ids, while their index is missing.
    ids: Option<HashSet<EventId>>,
}

impl<'index> Filling<'index> {
    pub(in crate::history) fn new(connection: &'index Connection, bytes: u64) -> rusqlite::Result<Self> {
        let is_empty = !connection.prepare_cached("SELECT 1 FROM events LIMIT 1")?.exists([])?;
        let is_large = is_empty && bytes >= LARGE;
        if is_large {
            drop_indices(connection)?;
        }
        Ok(Self {
            connection,
            names: HashMap::new(),
            next: HashMap::new(),
            fresh: HashMap::new(),
            ids: is_large.then(HashSet::new),
        })
    }

    pub(in crate::history) fn take(&mut self, segment: i64, line: &ReadLine) -> rusqlite::Result<()> {
        if let Some(found) = &line.problem {
            let (word, reason) = source::to_words(found);
            let mut statement = self.connection.prepare_cached(
                "INSERT INTO problems (segment, line, start, word, reason) VALUES (?, ?, ?, ?, ?)",
            )?;
            statement.execute(params![segment, line.number, line.start, word, reason])?;
        }
        match &line.event {
            Some(event) => {
                let place = EventPlace { segment, start: line.start, length: line.length };
                self.insert(event, place)
            }
            None => Ok(()),
        }
    }

    fn insert(&mut self, event: &Event, place: EventPlace) -> rusqlite::Result<()> {
        if self.is_known(event.id)? {
            let mut statement =
                self.connection.prepare_cached("INSERT OR IGNORE INTO copies (id, segment) VALUES (?, ?)")?;
            return statement.execute(params![event.id.as_bytes(), place.segment]).map(|_| ());
        }
        let (key, path) = match &event.artifact {
            Some(artifact) => (self.number(artifact.key.as_str())?, self.number(artifact.path.as_str())?),
            None => match event.data.get("path").and_then(serde_json::Value::as_str) {
                Some(path) => (0, self.number(path)?),
                None => (0, 0),
            },
        };
        let session = event.session.as_ref().map(|session| self.number(session)).transpose()?;
        let kind = self.number(event.kind.as_str())?;
        let parents: Vec<u8> = event.parents.iter().flat_map(|parent| *parent.as_bytes()).collect();
        let seq = self.next_seq(key)?;
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO events (key, seq, id, path, n, at, session, kind, state, segment, start, length, parents)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        statement.execute(params![
            key,
            seq,
            event.id.as_bytes(),
            path,
            i64::try_from(event.n).unwrap_or(i64::MAX),
            event.at.as_microsecond(),
            session,
            kind,
            state_part(event.after),
            place.segment,
            place.start,
            place.length,
            parents,
        ])?;
        if key != 0 {
            let mut statement =
                self.connection.prepare_cached("INSERT OR IGNORE INTO places (path, key) VALUES (?, ?)")?;
            statement.execute([path, key])?;
            let fresh = self.fresh.entry(key).or_default();
            // A large filling computes all heads at its end.
            if self.ids.is_none() {
                fresh.push(check::Fresh { seq, id: event.id, parents: event.parents.clone() });
            }
        }
        Ok(())
    }

    fn next_seq(&mut self, key: i64) -> rusqlite::Result<i64> {
        let next = match self.next.get(&key) {
            Some(next) => *next,
            None => {
                let mut statement = self
                    .connection
                    .prepare_cached("SELECT IFNULL(MAX(seq), 0) + 1 FROM events WHERE key = ?")?;
                statement.query_row([key], |row| row.get(0))?
            }
        };
        self.next.insert(key, next + 1);
        Ok(next)
    }

    fn is_known(&mut self, id: EventId) -> rusqlite::Result<bool> {
        if let Some(ids) = &mut self.ids {
            return Ok(!ids.insert(id));
        }
        let mut statement = self.connection.prepare_cached("SELECT 1 FROM events WHERE id = ?")?;
        statement.exists([id.as_bytes()])
    }

    fn number(&mut self, name: &str) -> rusqlite::Result<i64> {
        if let Some(number) = self.names.get(name) {
            return Ok(*number);
        }
        let mut statement = self.connection.prepare_cached("SELECT id FROM names WHERE text = ?")?;
        let number = match statement.query_row([name], |row| row.get(0)).optional()? {
            Some(number) => number,
            None => self.connection.prepare_cached("INSERT INTO names (text) VALUES (?)")?.insert([name])?,
        };
        self.names.insert(name.to_owned(), number);
        Ok(number)
    }

    /// Creates missing indices, and finds the heads. `lost`: artifacts of dropped events.
    pub(in crate::history) fn finish(mut self, lost: &HashSet<i64>) -> rusqlite::Result<()> {
        if self.ids.take().is_some() {
            make_indices(self.connection)?;
            return self.fresh.keys().try_for_each(|key| check::renew(self.connection, *key));
        }
        for key in lost {
            check::renew(self.connection, *key)?;
        }
        for (key, fresh) in self.fresh.iter().filter(|(key, _)| !lost.contains(key)) {
            check::add(self.connection, *key, fresh)?;
        }
        Ok(())
    }
}
