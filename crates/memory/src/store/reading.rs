//! Rows → records.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, types::Type};

use crate::{Decision, MemoryKind, MemoryRecord, MemoryType, Source, record::content_hash};

pub(super) fn extent(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT extent FROM stamp", [], |row| row.get(0)).optional()
}

pub(crate) fn records(
    connection: &Connection,
    condition: &str,
    parameters: impl Params,
) -> rusqlite::Result<Vec<MemoryRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM memories {condition}");
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(parameters, record)?.collect()
}

pub(super) const COLUMNS: &str = "id, kind, type, content, rationale, decision, tags, importance, confidence, artifact, artifact_key, session, agent, git_commit, created_at, valid_to";

pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<MemoryRecord> {
    let kind: String = row.get(1)?;
    let kind: MemoryKind = kind.parse().map_err(|error: String| odd(1, error))?;
    let memory_type: String = row.get(2)?;
    let memory_type: MemoryType =
        serde_json::from_value(memory_type.into()).map_err(|error| odd(2, error.to_string()))?;
    let content: String = row.get(3)?;
    let decision: Option<String> = row.get(5)?;
    let decision: Option<Decision> = decision.and_then(|text| serde_json::from_str(&text).ok());
    let tags: Option<String> = row.get(6)?;
    let id: String = row.get(0)?;
    let moment = |place| -> rusqlite::Result<Option<Timestamp>> {
        let milliseconds: Option<i64> = row.get(place)?;
        milliseconds
            .map(|number| Timestamp::from_millisecond(number).map_err(|error| odd(place, error.to_string())))
            .transpose()
    };
    Ok(MemoryRecord {
        kind,
        memory_type,
        tier: kind.tier(),
        content_hash: content_hash(&content),
        content,
        rationale: row.get(4)?,
        decision,
        tags: tags.map(|tags| tags.split_whitespace().map(str::to_owned).collect()).unwrap_or_default(),
        importance: row.get(7)?,
        confidence: row.get(8)?,
        source: Source {
            event: id.clone(),
            artifact: row.get(9)?,
            key: row.get(10)?,
            session: row.get(11)?,
            agent: row.get(12)?,
            commit: row.get(13)?,
        },
        created_at: moment(14)?.unwrap_or_default(),
        valid_to: moment(15)?,
        id,
    })
}

pub(super) fn superseded_by(connection: &Connection, id: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare_cached("SELECT new FROM superseded WHERE old = ? ORDER BY new")?;
    statement.query_map([id], |row| row.get(0))?.collect()
}

fn odd(place: usize, reason: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(place, Type::Text, reason.into())
}
