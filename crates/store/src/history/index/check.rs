//! Checks the index against the segments.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::{
    disk::{file_reading::read_file, root::Root},
    history::{
        VerifiedSegments,
        index::{Fault, Index, Row, database, state_part},
    },
};
use rusqlite::Connection;
use stepmark_model::{
    artifact::{Artifact, FileHash, ProjectPath},
    journal::{ArtifactKey, Event, EventId},
};

/// Independent of the order of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventSum {
    pub count: u64,
    sum: u128,
}

/// The indexed fields of an event except its position, which reading the event verifies.
struct Kept<'a> {
    id: EventId,
    key: &'a str,
    path: &'a str,
    session: Option<&'a str>,
    kind: &'a str,
    n: i64,
    at: i64,
    state: Option<i64>,
    parents: &'a [u8],
}

impl EventSum {
    pub(in crate::history) fn add(&mut self, event: &Event) {
        let artifact = event.artifact.as_ref();
        let parents: Vec<u8> = event.parents.iter().flat_map(|parent| *parent.as_bytes()).collect();
        self.add_kept(&Kept {
            id: event.id,
            key: artifact.map_or("", |artifact| artifact.key.as_str()),
            path: artifact.map_or("", |artifact| artifact.path.as_str()),
            session: event.session.as_deref(),
            kind: event.kind.as_str(),
            n: i64::try_from(event.n).unwrap_or(i64::MAX),
            at: event.at.as_microsecond(),
            state: state_part(event.after),
            parents: &parents,
        });
    }

    fn add_kept(&mut self, kept: &Kept<'_>) {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend(kept.id.as_bytes());
        for text in [Some(kept.key), Some(kept.path), kept.session, Some(kept.kind)] {
            // Longer than any text: none.
            bytes.extend(text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
            bytes.extend(text.unwrap_or_default().as_bytes());
        }
        for number in [Some(kept.n), Some(kept.at), kept.state] {
            bytes.push(u8::from(number.is_some()));
            bytes.extend(number.unwrap_or_default().to_le_bytes());
        }
        bytes.extend(kept.parents);
        let mut half = [0; 16];
        half.copy_from_slice(&FileHash::of(&bytes).as_bytes()[..16]);
        self.count += 1;
        self.sum = self.sum.wrapping_add(u128::from_le_bytes(half));
    }
}

/// If segments grew meanwhile, compares only the number of events.
pub(in crate::history) fn is_right(index: &Index, verified: &VerifiedSegments) -> Result<bool, Fault> {
    let Some(indexed) = sum(index.connection())? else { return Ok(false) };
    Ok(if has_ends_of(index.connection(), verified)? {
        indexed == verified.sum
    } else {
        indexed.count >= verified.sum.count
    })
}

/// `None` if its tables contradict each other.
fn sum(connection: &Connection) -> rusqlite::Result<Option<EventSum>> {
    let names = names(connection)?;
    let text = |number: i64| names.get(&number).map(String::as_str);
    let is_known = |number: i64| number == 0 || text(number).is_some();
    let (mut sum, mut derived) = (EventSum::default(), Derived::default());
    let mut statement = connection.prepare(
        "SELECT key, seq, id, path, n, at, session, kind, state, parents FROM events ORDER BY key, seq",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (key, path, kind, session): (i64, i64, i64, Option<i64>) =
            (row.get(0)?, row.get(3)?, row.get(7)?, row.get(6)?);
        if ![key, path, kind, session.unwrap_or(0)].into_iter().all(is_known) {
            return Ok(None);
        }
        let (id, parents) = (EventId::from_bytes(row.get(2)?), row.get_ref(9)?.as_blob()?);
        sum.add_kept(&Kept {
            id,
            key: text(key).unwrap_or_default(),
            path: text(path).unwrap_or_default(),
            session: session.and_then(text),
            kind: text(kind).unwrap_or_default(),
            n: row.get(4)?,
            at: row.get(5)?,
            state: row.get(8)?,
            parents,
        });
        if key != derived.key {
            if !derived.finish(connection)? {
                return Ok(None);
            }
            derived = Derived { key, totals: derived.totals, ..Derived::default() };
        }
        derived.take(row.get(1)?, id, path, parents);
    }
    let is_consistent = derived.finish(connection)? && derived.totals.are_all(connection)?;
    Ok(is_consistent.then_some(sum))
}

/// Rows derived from an artifact's events: the tables `heads`, `foreign_parents` and `places`.
#[derive(Default)]
struct Derived {
    key: i64,
    ids: HashMap<EventId, i64>,
    followed: HashSet<EventId>,
    paths: BTreeSet<i64>,
    totals: Totals,
}

#[derive(Clone, Copy, Default)]
struct Totals {
    heads: usize,
    foreign: usize,
    places: usize,
}

impl Derived {
    fn take(&mut self, seq: i64, id: EventId, path: i64, parents: &[u8]) {
        self.ids.insert(id, seq);
        self.followed.extend(parents.as_chunks().0.iter().map(|id| EventId::from_bytes(*id)));
        self.paths.insert(path);
    }

    /// Compares with the tables. Events without artifact have no such rows.
    fn finish(&mut self, connection: &Connection) -> rusqlite::Result<bool> {
        if self.key == 0 {
            return Ok(true);
        }
        let heads: BTreeSet<i64> =
            self.ids.iter().filter(|(id, _)| !self.followed.contains(id)).map(|(_, seq)| *seq).collect();
        let foreign: BTreeSet<EventId> =
            self.followed.iter().filter(|id| !self.ids.contains_key(id)).copied().collect();
        self.totals.heads += heads.len();
        self.totals.foreign += foreign.len();
        self.totals.places += self.paths.len();
        let numbers = |sql: &str| -> rusqlite::Result<BTreeSet<i64>> {
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_map([self.key], |row| row.get(0))?.collect()
        };
        let mut statement = connection.prepare_cached("SELECT parent FROM foreign_parents WHERE key = ?")?;
        let found = statement.query_map([self.key], |row| Ok(EventId::from_bytes(row.get(0)?)))?;
        Ok(numbers("SELECT seq FROM heads WHERE key = ?")? == heads
            && found.collect::<rusqlite::Result<BTreeSet<_>>>()? == foreign
            && self.paths.iter().try_fold(true, |is_right, path| {
                let mut statement =
                    connection.prepare_cached("SELECT 1 FROM places WHERE path = ? AND key = ?")?;
                Ok::<_, rusqlite::Error>(is_right && statement.exists([*path, self.key])?)
            })?)
    }
}

impl Totals {
    fn are_all(&self, connection: &Connection) -> rusqlite::Result<bool> {
        for (table, wanted) in
            [("heads", self.heads), ("foreign_parents", self.foreign), ("places", self.places)]
        {
            let sql = format!("SELECT COUNT(*) FROM {table}");
            let found: u64 = connection.query_row(&sql, [], |row| row.get(0))?;
            if found != wanted as u64 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn names(connection: &Connection) -> rusqlite::Result<HashMap<i64, String>> {
    let mut statement = connection.prepare("SELECT id, text FROM names")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn has_ends_of(connection: &Connection, verified: &VerifiedSegments) -> rusqlite::Result<bool> {
    // Of a segment in several files the first counts, as in verification.
    let mut statement = connection.prepare(
        "SELECT ends.name, ends.last FROM ends JOIN segments ON segments.id = ends.segment
         ORDER BY place DESC, segments.name DESC",
    )?;
    let ends = statement.query_map([], |row| Ok((row.get(0)?, FileHash::from_digest(row.get(1)?))))?;
    let ends: BTreeMap<String, FileHash> = ends.collect::<Result<_, _>>()?;
    let read = verified.ends.iter().map(|(name, end)| (name.as_str(), end.last));
    Ok(read.eq(ends.iter().map(|(name, last)| (name.as_str(), *last))))
}

/// All events of the artifact with `key` at `path`, in [`Row::order`].
///
/// With an id: the events under that id; if there are none, those at its path, so that a later id keeps the
/// history. Without an id: those at its path. Both include ancestors under any key and path. If files share
/// an id, each has the events of its own path and those connected to them.
pub(in crate::history) fn rows(
    root: &Root,
    connection: &Connection,
    key: &ArtifactKey,
    path: &ProjectPath,
) -> rusqlite::Result<Vec<Row>> {
    let mut rows = seeds((root, connection), key, path)?;
    let mut known: HashSet<EventId> = rows.iter().map(|row| row.id).collect();
    let mut wanted: Vec<EventId> = rows.iter().flat_map(|row| row.parents.iter().copied()).collect();
    while let Some(id) = wanted.pop() {
        if known.insert(id)
            && let Some(row) = database::by_id(connection, id)?
        {
            wanted.extend(&row.parents);
            rows.push(row);
        }
    }
    rows.sort_by_key(Row::order);
    Ok(rows)
}

/// The events of [`rows`] without a successor among them, in order.
pub(in crate::history) fn heads(
    root: &Root,
    connection: &Connection,
    key: &ArtifactKey,
    path: &ProjectPath,
) -> rusqlite::Result<Vec<Row>> {
    if let Some(head) = only_head((root, connection), key, path)? {
        return Ok(vec![head]);
    }
    let mut rows = rows(root, connection, key, path)?;
    let followed: HashSet<EventId> = rows.iter().flat_map(|row| row.parents.iter().copied()).collect();
    rows.retain(|row| !followed.contains(&row.id));
    Ok(rows)
}

/// Set if the index knows of one head only: then nothing else is read.
fn only_head(
    (root, connection): (&Root, &Connection),
    key: &ArtifactKey,
    path: &ProjectPath,
) -> rusqlite::Result<Option<Row>> {
    let Some(number) = database::number(connection, key.as_str())? else { return Ok(None) };
    if key.is_path() && keys_at(connection, path)?.iter().any(|other| *other != number) {
        return Ok(None);
    }
    let heads = database::select(
        connection,
        "WHERE key = ?1 AND seq IN (SELECT seq FROM heads WHERE key = ?1) LIMIT 2",
        [number],
    )?;
    let [head] = heads.as_slice() else { return Ok(None) };
    let is_its_own = key.is_path() || !is_of_another((root, connection), key, path, head)?;
    Ok(heads.into_iter().next().filter(|_| is_its_own))
}

fn seeds(
    (root, connection): (&Root, &Connection),
    key: &ArtifactKey,
    path: &ProjectPath,
) -> rusqlite::Result<Vec<Row>> {
    if let Some(number) = database::number(connection, key.as_str())?
        && !key.is_path()
    {
        let rows = database::of_key(connection, number)?;
        let here = database::number(connection, path.as_str())?;
        let is_here = |row: &Row| Some(row.path) == here;
        if rows.iter().any(is_here) {
            return Ok(if rows.iter().all(is_here) { rows } else { connected(rows, is_here) });
        }
        if let Some(latest) = rows.last()
            && !is_of_another((root, connection), key, path, latest)?
        {
            return Ok(rows);
        }
    }
    at_path(connection, path)
}

/// True if `latest` is of another existing file with the same id; otherwise the file was moved.
fn is_of_another(
    (root, connection): (&Root, &Connection),
    key: &ArtifactKey,
    path: &ProjectPath,
    latest: &Row,
) -> rusqlite::Result<bool> {
    if Some(latest.path) == database::number(connection, path.as_str())? {
        return Ok(false);
    }
    let Ok(other) = ProjectPath::new(&database::name(connection, latest.path)?) else { return Ok(false) };
    let bytes = root.resolve(&other).ok().and_then(|place| read_file(&place).ok());
    Ok(bytes.is_some_and(|bytes| ArtifactKey::of(&Artifact::read(other, bytes)) == *key))
}

/// Those of `rows` that `is_here`, with their ancestors and descendants.
fn connected(mut rows: Vec<Row>, is_here: impl Fn(&Row) -> bool) -> Vec<Row> {
    let mut ids: HashSet<EventId> = rows.iter().filter(|row| is_here(row)).flat_map(Row::ends).collect();
    let mut known = 0;
    // Rows are in the order of writing: back along parents, then forward.
    while ids.len() > known {
        known = ids.len();
        for row in rows.iter().rev().chain(&rows) {
            if row.ends().any(|id| ids.contains(&id)) {
                ids.extend(row.ends());
            }
        }
    }
    rows.retain(|row| ids.contains(&row.id));
    rows
}

fn at_path(connection: &Connection, path: &ProjectPath) -> rusqlite::Result<Vec<Row>> {
    let Some(number) = database::number(connection, path.as_str())? else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    for key in keys_at(connection, path)? {
        rows.extend(database::of_key(connection, key)?.into_iter().filter(|row| row.path == number));
    }
    Ok(rows)
}

fn keys_at(connection: &Connection, path: &ProjectPath) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection
        .prepare_cached("SELECT key FROM places WHERE path = (SELECT id FROM names WHERE text = ?)")?;
    statement.query_map([path.as_str()], |row| row.get(0))?.collect()
}

#[derive(Clone, Debug)]
pub(in crate::history) struct Fresh {
    pub(in crate::history) seq: i64,
    pub(in crate::history) id: EventId,
    pub(in crate::history) parents: Vec<EventId>,
}

pub(in crate::history) fn renew(connection: &Connection, key: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM heads WHERE key = ?")?.execute([key])?;
    connection.prepare_cached("DELETE FROM foreign_parents WHERE key = ?")?.execute([key])?;
    let rows = database::of_key(connection, key)?;
    let ids: HashSet<EventId> = rows.iter().map(|row| row.id).collect();
    let followed: HashSet<EventId> = rows.iter().flat_map(|row| row.parents.iter().copied()).collect();
    for row in rows.iter().filter(|row| !followed.contains(&row.id)) {
        insert(connection, key, row.seq)?;
    }
    followed.difference(&ids).try_for_each(|parent| remember_foreign(connection, key, *parent))
}

/// Updates an artifact's heads after `fresh` was added.
pub(in crate::history) fn add(connection: &Connection, key: i64, fresh: &[Fresh]) -> rusqlite::Result<()> {
    for event in fresh {
        let mut awaited =
            connection.prepare_cached("SELECT 1 FROM foreign_parents WHERE parent = ? AND key = ?")?;
        if awaited.exists((event.id.as_bytes(), key))? {
            // A segment was added after its continuation.
            return renew(connection, key);
        }
    }
    let followed: HashSet<EventId> = fresh.iter().flat_map(|event| event.parents.iter().copied()).collect();
    for event in fresh.iter().filter(|event| !followed.contains(&event.id)) {
        insert(connection, key, event.seq)?;
    }
    let ids: HashSet<EventId> = fresh.iter().map(|event| event.id).collect();
    for parent in followed.difference(&ids) {
        match database::by_id(connection, *parent)? {
            Some(row) if row.key == key => {
                let mut statement =
                    connection.prepare_cached("DELETE FROM heads WHERE key = ? AND seq = ?")?;
                statement.execute([key, row.seq])?;
            }
            _ => remember_foreign(connection, key, *parent)?,
        }
    }
    Ok(())
}

fn insert(connection: &Connection, key: i64, seq: i64) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("INSERT OR IGNORE INTO heads (key, seq) VALUES (?, ?)")?;
    statement.execute([key, seq]).map(|_| ())
}

fn remember_foreign(connection: &Connection, key: i64, parent: EventId) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("INSERT OR IGNORE INTO foreign_parents (parent, key) VALUES (?, ?)")?;
    statement.execute((parent.as_bytes(), key)).map(|_| ())
}

pub(in crate::history) fn goes_on(connection: &Connection, key: i64, id: EventId) -> rusqlite::Result<bool> {
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM foreign_parents WHERE parent = ? AND key <> ?")?;
    statement.exists((id.as_bytes(), key))
}
