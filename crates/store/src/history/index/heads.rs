//! The events of an artifact that no other of the same key follows, kept up to date in the index.

use std::collections::HashSet;

use rusqlite::Connection;

use crate::history::index::row;
use stepmark_model::journal::EventId;

/// An event that came in.
#[derive(Clone, Debug)]
pub(in crate::history) struct Fresh {
    pub(in crate::history) seq: i64,
    pub(in crate::history) id: EventId,
    pub(in crate::history) parents: Vec<EventId>,
}

/// Finds the heads of an artifact, and the parents that are missing, from all its rows.
pub(in crate::history) fn renew(connection: &Connection, key: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM heads WHERE key = ?")?.execute([key])?;
    connection.prepare_cached("DELETE FROM foreign_parents WHERE key = ?")?.execute([key])?;
    let rows = row::of_key(connection, key)?;
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
        match row::by_id(connection, *parent)? {
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

/// Remembers a parent under another key, or one whose segment may still come in.
fn remember_foreign(connection: &Connection, key: i64, parent: EventId) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("INSERT OR IGNORE INTO foreign_parents (parent, key) VALUES (?, ?)")?;
    statement.execute((parent.as_bytes(), key)).map(|_| ())
}

/// Returns whether an event of another key follows the event `id` of `key`.
pub(in crate::history) fn goes_on(connection: &Connection, key: i64, id: EventId) -> rusqlite::Result<bool> {
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM foreign_parents WHERE parent = ? AND key <> ?")?;
    statement.exists((id.as_bytes(), key))
}
