//! The events that belong to one artifact, whatever key it had when they happened.

use std::collections::HashSet;

use rusqlite::Connection;

use crate::disk::{file_reading::read_file, root::Root};
use crate::history::{index::Row, index::row};
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
            && let Some(row) = row::by_id(connection, id)?
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
    let Some(number) = row::number(connection, key.as_str())? else { return Ok(None) };
    if key.is_path() && keys_at(connection, path)?.iter().any(|other| *other != number) {
        return Ok(None);
    }
    let heads = row::select(
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
    if let Some(number) = row::number(connection, key.as_str())?
        && !key.is_path()
    {
        let rows = row::of_key(connection, number)?;
        let here = row::number(connection, path.as_str())?;
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
    if Some(latest.path) == row::number(connection, path.as_str())? {
        return Ok(false);
    }
    let Ok(other) = ProjectPath::new(&row::name(connection, latest.path)?) else { return Ok(false) };
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
    let Some(number) = row::number(connection, path.as_str())? else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    for key in keys_at(connection, path)? {
        rows.extend(row::of_key(connection, key)?.into_iter().filter(|row| row.path == number));
    }
    Ok(rows)
}

/// The keys of the artifacts that stood at `path`.
fn keys_at(connection: &Connection, path: &ProjectPath) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection
        .prepare_cached("SELECT key FROM places WHERE path = (SELECT id FROM names WHERE text = ?)")?;
    statement.query_map([path.as_str()], |row| row.get(0))?.collect()
}
