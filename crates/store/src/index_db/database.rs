//! The file `.stepmark/local/cache/index.db`: opened, created, rebuilt; in memory if not writable.

use crate::disk::{CacheDatabase, CacheUnavailable as Unavailable, SqliteError, root::Root};
use crate::index_db::schema::LAYOUT;
use crate::{Error, ErrorKind};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, ffi, limits::Limit};
use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// In bytes: a longer log is emptied, since every open reads it.
const LONG_LOG: u64 = 512 * 1024;

#[derive(Debug)]
pub(crate) struct Database {
    database: CacheDatabase,
    /// Detects changes by others since before the first read.
    version: i64,
    /// `None` in memory.
    lock: Option<File>,
}

impl Database {
    /// Creates or rebuilds it if missing, outdated or damaged. Waits for another process's update.
    pub(crate) fn on_disk(root: &Root) -> Result<Self, Unavailable> {
        let lock = LAYOUT.lock(root)?;
        Ok(Self::new(LAYOUT.open(root)?, Some(lock))?)
    }

    pub(crate) fn anew(root: &Root) -> Result<Self, Unavailable> {
        let lock = LAYOUT.lock(root)?;
        Ok(Self::new(LAYOUT.open(root)?.renew()?, Some(lock))?)
    }

    pub(crate) fn in_memory() -> rusqlite::Result<Self> {
        Self::new(LAYOUT.in_memory()?, None)
    }

    fn new(database: CacheDatabase, lock: Option<File>) -> rusqlite::Result<Self> {
        Ok(Self { version: data_version(&database.connection)?, database, lock })
    }

    pub(crate) const fn connection(&self) -> &Connection {
        &self.database.connection
    }

    /// Read-only and not updated; `None` if there is none of this version.
    pub(crate) fn as_it_is(root: &Root) -> Option<Connection> {
        LAYOUT.open_to_read(root)
    }

    pub(crate) fn shorten_log(&self) -> rusqlite::Result<()> {
        self.database.shorten_log(LONG_LOG)
    }

    /// Releases the lock. The connection can then only read, and keeps its snapshot whatever happens to the
    /// files.
    pub(crate) fn into_reading(self) -> rusqlite::Result<Connection> {
        let Self { database: CacheDatabase { connection, .. }, version, lock: _lock } = self;
        connection.execute_batch("BEGIN")?;
        if data_version(&connection)? != version {
            let message = "other processes change or delete it again and again".to_owned();
            let changed = ffi::Error::new(ffi::SQLITE_BUSY_SNAPSHOT);
            return Err(rusqlite::Error::SqliteFailure(changed, Some(message)));
        }
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }
}

/// True if another process changed the database despite the lock: its files were deleted.
pub(crate) fn was_changed(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|failure| failure.extended_code == ffi::SQLITE_BUSY_SNAPSHOT)
}

/// Changes if another connection has written.
fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0))
}

/// In bytes.
const LONGEST: i32 = 4 * 1024 * 1024;
const WIDEST: i32 = 256;

#[derive(Clone, Debug, Default)]
pub(super) struct Seen(Arc<Mutex<Record>>);

#[derive(Debug, Default)]
struct Record {
    tables: Vec<String>,
    refused: Option<String>,
}

impl Seen {
    pub(super) fn tables(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).tables.clone()
    }

    pub(super) fn refused(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).refused.clone()
    }
}

/// Restricts `connection` to reading. In addition to a read-only connection: this also prevents access to
/// other files.
pub(super) fn restrict(connection: &mut Connection) -> rusqlite::Result<Seen> {
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.set_limit(Limit::SQLITE_LIMIT_COLUMN, WIDEST)?;
    let seen = Seen::default();
    let record = Arc::clone(&seen.0);
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
        match judge(&context.action) {
            Judgement::Reads(table) => {
                if !record.tables.iter().any(|known| known == table) {
                    record.tables.push(table.to_owned());
                }
                Authorization::Allow
            }
            Judgement::Fine => Authorization::Allow,
            Judgement::Refused(what) => {
                record.refused.get_or_insert(what);
                Authorization::Deny
            }
        }
    }))?;
    Ok(seen)
}

enum Judgement<'a> {
    Reads(&'a str),
    Fine,
    Refused(String),
}

fn judge<'a>(action: &AuthAction<'a>) -> Judgement<'a> {
    match action {
        AuthAction::Read { table_name, .. } => match pragma(table_name) {
            Some(pragma) => Judgement::Refused(format!("PRAGMA {pragma}")),
            None => Judgement::Reads(table_name),
        },
        AuthAction::Select | AuthAction::Recursive => Judgement::Fine,
        AuthAction::Function { function_name } if !function_name.eq_ignore_ascii_case("load_extension") => {
            Judgement::Fine
        }
        other => Judgement::Refused(word(other)),
    }
}

/// Pragmas are queried as tables, and refused only when used. SQLite gives the name as written.
fn pragma(table_name: &str) -> Option<&str> {
    let (prefix, pragma) = table_name.split_at_checked("pragma_".len())?;
    prefix.eq_ignore_ascii_case("pragma_").then_some(pragma)
}

fn word(action: &AuthAction<'_>) -> String {
    match action {
        // SQLite keeps its list of tables in a table.
        AuthAction::Insert { table_name }
        | AuthAction::Update { table_name, .. }
        | AuthAction::Delete { table_name }
            if table_name.starts_with("sqlite_") =>
        {
            "changing tables".to_owned()
        }
        AuthAction::Insert { table_name } => format!("INSERT INTO {table_name}"),
        AuthAction::Update { table_name, .. } => format!("UPDATE {table_name}"),
        AuthAction::Delete { table_name } => format!("DELETE FROM {table_name}"),
        AuthAction::Attach { .. } => "ATTACH or VACUUM".to_owned(),
        AuthAction::Detach { .. } => "DETACH".to_owned(),
        AuthAction::Pragma { pragma_name, .. } => format!("PRAGMA {pragma_name}"),
        AuthAction::Function { function_name } => format!("{function_name}()"),
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => "a transaction".to_owned(),
        AuthAction::Analyze { .. } => "ANALYZE".to_owned(),
        AuthAction::Reindex { .. } => "REINDEX".to_owned(),
        _ => "changing tables".to_owned(),
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Self {
        Self::told(ErrorKind::Io, error)
    }
}

pub(crate) fn no_database(source: rusqlite::Error) -> Error {
    let message = "cannot make the database of the project, not even in memory; deleting `.stepmark/local/cache/` does \
                   no harm";
    Error::io(message, SqliteError(source))
}

#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error("the query is no SQL that this database understands: {message}")]
    Sql {
        message: String,
        /// In bytes, if SQLite gives it.
        offset: Option<usize>,
        near: Vec<String>,
    },
    #[error("the query is not carried out: {what} is not reading, and the database is only read")]
    NotReading {
        /// The refused operation.
        what: String,
    },
    #[error("there is no query: write one statement that begins with SELECT, WITH or VALUES")]
    Nothing,
    #[error("several statements are not carried out: run one query at a time")]
    Several,
    #[error("the query has the parameter `{name}`, and no value is given for it")]
    Unbound { name: String },
    #[error("the query has no parameter `:{name}`")]
    Unknown { name: String },
    #[error("the query was stopped: it was not answered within {} s", limit.as_secs_f32())]
    TooLong { limit: Duration },
    #[error("the query was stopped: it has more than {limit} rows")]
    TooMany { limit: usize },
    #[error("the query was stopped: its answer is longer than {} MiB", limit / 1024 / 1024)]
    TooLarge { limit: usize },
    #[error("the query was stopped: it needs more than {} MiB of memory", limit / 1024 / 1024)]
    TooMuchMemory {
        /// In bytes.
        limit: u64,
    },
    #[error("the database of the project cannot be read; deleting `.stepmark/local/cache/` does no harm")]
    Database { source: SqliteError },
}
