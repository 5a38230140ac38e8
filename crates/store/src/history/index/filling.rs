//! Events put into the index.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, params};

use crate::history::index::{database, identity, state_part};
use crate::history::reading::EventPlace;
use crate::history::segments::{ReadLine, source};
use stepmark_model::journal::{Event, EventId};

/// The number of bytes of segments that make it worthwhile to make the indices anew, behind an empty table.
const LARGE: u64 = 4 * 1024 * 1024;

/// Puts events into the index, within one transaction.
pub(in crate::history) struct Filling<'index> {
    connection: &'index Connection,
    names: HashMap<String, i64>,
    next: HashMap<i64, i64>,
    fresh: HashMap<i64, Vec<identity::Fresh>>,
    /// All ids, while the index that would find them is left out.
    ids: Option<HashSet<EventId>>,
}

impl<'index> Filling<'index> {
    /// Begins; `bytes` is how much will be read.
    pub(in crate::history) fn new(connection: &'index Connection, bytes: u64) -> rusqlite::Result<Self> {
        let is_empty = !connection.prepare_cached("SELECT 1 FROM events LIMIT 1")?.exists([])?;
        let is_large = is_empty && bytes >= LARGE;
        if is_large {
            database::drop_indices(connection)?;
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
            // A large filling looks at each artifact as a whole at its end.
            if self.ids.is_none() {
                fresh.push(identity::Fresh { seq, id: event.id, parents: event.parents.clone() });
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

    /// Ends: makes the indices that were left out, and finds the heads. `lost` are the artifacts that events
    /// of dropped segments were about.
    pub(in crate::history) fn finish(mut self, lost: &HashSet<i64>) -> rusqlite::Result<()> {
        if self.ids.take().is_some() {
            database::make_indices(self.connection)?;
            return self.fresh.keys().try_for_each(|key| identity::renew(self.connection, *key));
        }
        for key in lost {
            identity::renew(self.connection, *key)?;
        }
        for (key, fresh) in self.fresh.iter().filter(|(key, _)| !lost.contains(key)) {
            identity::add(self.connection, *key, fresh)?;
        }
        Ok(())
    }
}
