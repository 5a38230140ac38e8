//! The row of an event in the index.

use rusqlite::{Connection, OptionalExtension};

use crate::history::reading::EventPlace;
use stepmark_model::journal::{Digests, Event, EventId};

/// An event as it stands in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::history) struct Row {
    /// The number of its artifact's key; 0 for what is about none.
    pub(in crate::history) key: i64,
    /// Its number within the index.
    pub(in crate::history) seq: i64,
    pub(in crate::history) id: EventId,
    /// The number of its artifact's path; 0 for what is about none.
    pub(in crate::history) path: i64,
    pub(in crate::history) n: u64,
    /// In microseconds since 1970.
    pub(in crate::history) at: i64,
    /// The number of its session.
    pub(in crate::history) session: Option<i64>,
    /// A part of the digest of the state after it; `None` where there is no file.
    pub(in crate::history) state: Option<i64>,
    pub(in crate::history) place: EventPlace,
    pub(in crate::history) parents: Vec<EventId>,
}

/// The columns of `events` that [`Row::of`] reads, in its order.
pub(in crate::history) const COLUMNS: &str =
    "key, seq, id, path, n, at, session, state, segment, start, length, parents";

impl Row {
    /// Its id, and those of its parents.
    pub(in crate::history) fn ends(&self) -> impl Iterator<Item = EventId> {
        std::iter::once(self.id).chain(self.parents.iter().copied())
    }

    /// Takes the columns [`COLUMNS`].
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

    /// Returns the values by which the events of an artifact are ordered, as
    /// [`Lineage`](stepmark_model::journal::Lineage) orders them.
    pub(in crate::history) const fn order(&self) -> (u64, i64, EventId) {
        (self.n, self.at, self.id)
    }
}

/// Returns the value of `state` for a file.
pub(in crate::history) fn state_part(digests: Option<Digests>) -> Option<i64> {
    digests.map(|digests| {
        let bytes = digests.state.map_or(*digests.file.as_bytes(), |state| *state.as_bytes());
        let mut part = [0; 8];
        part.copy_from_slice(&bytes[..8]);
        i64::from_be_bytes(part)
    })
}

/// The number of a name; `None` where no event has it.
pub(in crate::history) fn number(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM names WHERE text = ?")?;
    statement.query_row([name], |row| row.get(0)).optional()
}

/// The name with a number.
pub(in crate::history) fn name(connection: &Connection, number: i64) -> rusqlite::Result<String> {
    let mut statement = connection.prepare_cached("SELECT text FROM names WHERE id = ?")?;
    statement.query_row([number], |row| row.get(0))
}

/// The rows that `condition` (SQL behind `FROM events`) selects.
pub(in crate::history) fn select(
    connection: &Connection,
    condition: &str,
    parameters: impl rusqlite::Params,
) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM events {condition}"))?;
    statement.query_map(parameters, Row::of)?.collect()
}

/// The rows of the artifact with this number, in the order in which they were indexed.
pub(in crate::history) fn of_key(connection: &Connection, key: i64) -> rusqlite::Result<Vec<Row>> {
    select(connection, "WHERE key = ?", [key])
}

/// The row of the event `id`.
pub(in crate::history) fn by_id(connection: &Connection, id: EventId) -> rusqlite::Result<Option<Row>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM events WHERE id = ?"))?;
    statement.query_row([id.as_bytes()], Row::of).optional()
}

/// Returns whether the events from `id` back to the last one that has a snapshot by its number, or no parent,
/// are all there. An event that has its snapshot for another reason is not seen, so a yes is certain and a no
/// is not.
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
