//! SQL queries: prepared without data, then run.
#![expect(clippy::disallowed_methods, reason = "an edge module: a query is stopped by the clock")]

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rusqlite::{Batch, Connection, ErrorCode, Statement, types::ValueRef};

use crate::index_db::table::{Cell, Row};
use crate::index_db::{Parts, QueryError, VIEWS, database, schema};
use crate::{disk::SqliteError, index_db::database::Seen};

/// Steps of SQLite's machine between looks at the clock: some tens of microseconds.
const STEPS: i32 = 10_000;

/// In bytes, for one query.
const MEMORY: u64 = 512 * 1024 * 1024;

#[derive(Clone, Debug)]
pub struct SqlQuery {
    sql: String,
    parts: Parts,
    parameters: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub time: Duration,
    pub rows: usize,
    /// The limit for all values of the answer, in bytes.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(30), rows: 1_000_000, bytes: 256 * 1024 * 1024 }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Column names with their declared type; `None` for expressions.
    pub columns: Vec<(String, Option<String>)>,
    pub rows: Vec<Row>,
    /// The reason for a database in memory: for instance, `.stepmark/local/cache/` is read-only.
    pub in_memory: Option<String>,
}

impl SqlQuery {
    pub fn prepare(sql: &str) -> Result<Self, QueryError> {
        let mut connection = Connection::open_in_memory().map_err(failed)?;
        schema::LAYOUT.make(&connection).map_err(failed)?;
        let seen = database::restrict(&mut connection).map_err(failed)?;
        let statement = single(&connection, sql, &seen)?;
        let names = (1..=statement.parameter_count()).map(|place| statement.parameter_name(place));
        let parameters = names.map(|name| name.unwrap_or("?").to_owned()).collect();
        let parts = schema::parts_of(seen.tables().iter().map(String::as_str));
        Ok(Self { sql: sql.to_owned(), parts, parameters })
    }

    pub const fn parts(&self) -> Parts {
        self.parts
    }

    fn values(
        &self,
        given: &BTreeMap<String, Cell>,
        known: &BTreeMap<String, Cell>,
    ) -> Result<Vec<Cell>, QueryError> {
        let bare = |name: &str| name.trim_start_matches([':', '@', '$', '?']).to_owned();
        if let Some(name) = given.keys().find(|key| !self.parameters.iter().any(|name| bare(name) == **key)) {
            return Err(QueryError::Unknown { name: name.clone() });
        }
        let value = |name: &String| {
            let value = given.get(&bare(name)).or_else(|| known.get(&bare(name)));
            value.cloned().ok_or_else(|| QueryError::Unbound { name: name.clone() })
        };
        self.parameters.iter().map(value).collect()
    }

    /// Runs on `connection`, which must not be used afterwards. `given` are parameters by name; `known` ones
    /// may be unused. From now on SQLite takes at most [`MEMORY`] in this process, since sorts and joins are
    /// no part of the answer.
    pub(crate) fn ask(
        &self,
        mut connection: Connection,
        (given, known): (&BTreeMap<String, Cell>, &BTreeMap<String, Cell>),
        limits: Limits,
    ) -> Result<Answer, QueryError> {
        let values = self.values(given, known)?;
        connection
            .query_row(&format!("PRAGMA hard_heap_limit = {MEMORY}"), [], |_| Ok(()))
            .map_err(failed)?;
        let seen = database::restrict(&mut connection).map_err(failed)?;
        let is_late = Arc::new(AtomicBool::new(false));
        let (late, began) = (Arc::clone(&is_late), Instant::now());
        let stop = move || {
            let is_over = began.elapsed() >= limits.time;
            late.store(is_over, Ordering::Relaxed);
            is_over
        };
        connection.progress_handler(STEPS, Some(stop)).map_err(failed)?;
        let answer = run(&connection, &self.sql, &seen, values, limits);
        answer.map_err(|error| {
            if is_late.load(Ordering::Relaxed) { QueryError::TooLong { limit: limits.time } } else { error }
        })
    }
}

fn run(
    connection: &Connection,
    sql: &str,
    seen: &Seen,
    values: Vec<Cell>,
    limits: Limits,
) -> Result<Answer, QueryError> {
    let mut statement = single(connection, sql, seen)?;
    let named =
        |column: rusqlite::Column<'_>| (column.name().to_owned(), column.decl_type().map(str::to_owned));
    let columns: Vec<_> = statement.columns().map(named).collect();
    let mut found = statement.query(rusqlite::params_from_iter(values)).map_err(failed)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut bytes_left = limits.bytes;
    while let Some(row) = found.next().map_err(while_running)? {
        if rows.len() == limits.rows {
            return Err(QueryError::TooMany { limit: limits.rows });
        }
        let mut cells = Row::with_capacity(columns.len());
        for place in 0..columns.len() {
            let value = row.get_ref(place).map_err(failed)?;
            bytes_left =
                bytes_left.checked_sub(size(value)).ok_or(QueryError::TooLarge { limit: limits.bytes })?;
            cells.push(lenient(value));
        }
        rows.push(cells);
    }
    Ok(Answer { columns, rows, in_memory: None })
}

const fn size(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Null => 0,
        ValueRef::Integer(_) | ValueRef::Real(_) => 8,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
    }
}

/// Text from SQLite's functions may be invalid UTF-8.
fn lenient(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(bytes) => Cell::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
    }
}

fn single<'c>(connection: &'c Connection, sql: &str, seen: &Seen) -> Result<Statement<'c>, QueryError> {
    use rusqlite::fallible_iterator::FallibleIterator as _;
    let understood = |error: rusqlite::Error| match seen.refused() {
        Some(what) => QueryError::NotReading { what },
        None => not_understood(error, sql),
    };
    let mut batch = Batch::new(connection, sql);
    let statement = batch.next().map_err(understood)?.ok_or(QueryError::Nothing)?;
    if batch.next().map_or(true, |other| other.is_some()) {
        return Err(QueryError::Several);
    }
    if !statement.readonly() || statement.column_count() == 0 {
        let word = sql.split_whitespace().next().unwrap_or_default().to_uppercase();
        return Err(QueryError::NotReading { what: word });
    }
    Ok(statement)
}

fn not_understood(error: rusqlite::Error, sql: &str) -> QueryError {
    let (message, offset) = match error {
        rusqlite::Error::SqlInputError { msg, offset, .. } => (msg, usize::try_from(offset).ok()),
        rusqlite::Error::SqliteFailure(failure, Some(message)) if failure.code == ErrorCode::Unknown => {
            (message, None)
        }
        other => return failed(other),
    };
    // For a missing table SQLite gives the name, but no offset.
    let offset = offset.or_else(|| sql.find(message.strip_prefix("no such table: ")?));
    QueryError::Sql { near: near(&message), offset: offset.filter(|offset| *offset <= sql.len()), message }
}

/// An error of the database, or of an expression: an overflow, an invalid number.
fn while_running(error: rusqlite::Error) -> QueryError {
    match error {
        error if error.sqlite_error_code() == Some(ErrorCode::OutOfMemory) => {
            QueryError::TooMuchMemory { limit: MEMORY }
        }
        rusqlite::Error::SqliteFailure(failure, Some(message))
            if matches!(failure.code, ErrorCode::Unknown | ErrorCode::TooBig) =>
        {
            QueryError::Sql { message, offset: None, near: Vec::new() }
        }
        other => failed(other),
    }
}

const fn failed(source: rusqlite::Error) -> QueryError {
    QueryError::Database { source: SqliteError(source) }
}

fn near(message: &str) -> Vec<String> {
    let names: Vec<&str> = if message.starts_with("no such table: ") {
        schema::tables().map(|table| table.name).chain(VIEWS.iter().map(|view| view.name)).collect()
    } else if message.starts_with("no such column: ") {
        let columns = schema::tables().flat_map(|table| table.columns.iter().map(|column| column.name));
        columns.chain(VIEWS.iter().flat_map(|view| view.columns.iter().map(|(name, _)| *name))).collect()
    } else {
        return Vec::new();
    };
    let wanted = message.rsplit([' ', '.']).next().unwrap_or_default().to_lowercase();
    // The column exists in another table.
    if names.contains(&wanted.as_str()) {
        let mut owners: Vec<&str> = schema::tables()
            .filter(|table| table.columns.iter().any(|column| column.name == wanted))
            .map(|table| table.name)
            .collect();
        if owners.contains(&"artifacts") {
            owners = vec!["artifacts"];
        }
        return owners.into_iter().take(3).map(|table| format!("{table}.{wanted}")).collect();
    }
    let mut near: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&wanted, name), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(other.1)));
    near.dedup_by_key(|(_, name)| *name);
    near.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index_db::Database;

    fn ask(sql: &str, limits: Limits) -> Result<Answer, QueryError> {
        let connection = Database::in_memory().unwrap().into_reading().unwrap();
        let nothing = BTreeMap::new();
        SqlQuery::prepare(sql)?.ask(connection, (&nothing, &nothing), limits)
    }

    #[test]
    fn an_answer_takes_no_more_than_its_share() {
        let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT";
        let few = Limits { bytes: 1000, ..Limits::default() };
        let (long, hungry) = ("its answer is longer than 0 MiB", "it needs more than 512 MiB of memory");
        for (sql, stopped) in [
            (format!("{endless} zeroblob(300) FROM n"), Some(long)),
            // What is sorted is no part of the answer.
            (format!("{endless} x FROM n ORDER BY zeroblob(4000000) || x"), Some(hungry)),
            ("SELECT 'x', zeroblob(1000)".to_owned(), Some(long)),
            ("SELECT 1, zeroblob(992)".to_owned(), None),
        ] {
            let error = ask(&sql, few).err().map(|error| error.to_string());
            assert_eq!(error, stopped.map(|why| format!("the query was stopped: {why}")), "{sql}");
        }
        let too_long = ask("SELECT length(randomblob(5000000))", Limits::default());
        assert!(matches!(too_long, Err(QueryError::Sql { .. })), "{too_long:?}");
    }

    #[test]
    fn a_column_of_another_table_is_named_with_it() {
        assert_eq!(near("no such column: id"), ["artifacts.id"]);
        assert_eq!(near("no such column: t.titel").first().map(String::as_str), Some("title"));
    }
}
