//! The events that belong to one artifact, whatever key it had when they happened.

use std::collections::HashSet;

use rusqlite::Connection;

use crate::history::{index::Row, index::row};
use stepmark_model::artifact::ProjectPath;
use stepmark_model::journal::{ArtifactKey, EventId};

/// All events of the artifact with `key` at `path`, in the order of [`Row::order`].
///
/// Those of an artifact with an id are the events under that id; where there is none yet, whatever happened
/// at its path, so that an id given later keeps the history. Those of an artifact without an id are whatever
/// happened at its path. To both come the events that they follow, under whatever key and path.
pub(in crate::history) fn rows(
    connection: &Connection,
    key: &ArtifactKey,
    path: &ProjectPath,
) -> rusqlite::Result<Vec<Row>> {
    let mut rows = seeds(connection, key, path)?;
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
    connection: &Connection,
    key: &ArtifactKey,
    path: &ProjectPath,
) -> rusqlite::Result<Vec<Row>> {
    if let Some(head) = only_head(connection, key, path)? {
        return Ok(vec![head]);
    }
    let mut rows = rows(connection, key, path)?;
    let followed: HashSet<EventId> = rows.iter().flat_map(|row| row.parents.iter().copied()).collect();
    rows.retain(|row| !followed.contains(&row.id));
    Ok(rows)
}

/// The head, where the index knows that there is one only: then nothing else has to be read.
fn only_head(
    connection: &Connection,
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
    let is_alone = heads.len() == 1;
    Ok(heads.into_iter().next().filter(|_| is_alone))
}

fn seeds(connection: &Connection, key: &ArtifactKey, path: &ProjectPath) -> rusqlite::Result<Vec<Row>> {
    if let Some(number) = row::number(connection, key.as_str())? {
        let rows = row::of_key(connection, number)?;
        if !key.is_path() && !rows.is_empty() {
            return Ok(rows);
        }
    }
    at_path(connection, path)
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
