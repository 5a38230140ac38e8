//! The events that belong to one artifact, whatever key it had when they happened.

use crate::disk::{file_reading::read_file, root::Root};
use crate::history::index::{Row, database};
use rusqlite::Connection;
use std::collections::HashSet;
use stepmark_model::artifact::{Artifact, ProjectPath};
use stepmark_model::journal::{ArtifactKey, EventId};

/// All events of the artifact with `key` at `path`, in the order of [`Row::order`].
///
/// Those of an artifact with an id are the events under that id; where there is none yet, whatever happened
/// at its path, so that an id given later keeps the history. Those of an artifact without an id are whatever
/// happened at its path. To both come the events that they follow, under whatever key and path. Where another
/// file has the same id, each has the events of its own path, and those that hang together with them.
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

/// The heads of the artifact: the events of [`rows`] that no other of them follows, in order.
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

/// The head, where the index knows that there is one only: then nothing else has to be read.
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

/// Returns whether `latest` happened to another file than that at `path`: one that still stands, with the
/// same id. Otherwise the file was moved.
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

/// Those of `rows` that `is_here`, and what leads to them or from them by whatever way.
fn connected(mut rows: Vec<Row>, is_here: impl Fn(&Row) -> bool) -> Vec<Row> {
    let mut ids: HashSet<EventId> = rows.iter().filter(|row| is_here(row)).flat_map(Row::ends).collect();
    let mut known = 0;
    // Rows come in the order in which they were written: back along the parents, then on along what follows.
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

/// Makes the heads of an artifact right after `fresh` came in.
pub(in crate::history) fn add(connection: &Connection, key: i64, fresh: &[Fresh]) -> rusqlite::Result<()> {
    for event in fresh {
        let mut awaited =
            connection.prepare_cached("SELECT 1 FROM foreign_parents WHERE parent = ? AND key = ?")?;
        if awaited.exists((event.id.as_bytes(), key))? {
            // A segment came in after the one that goes on behind it.
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
