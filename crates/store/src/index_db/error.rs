//! Reasons why the database cannot be made, and why a query to it is not answered.

use std::time::Duration;

use crate::disk::SqliteError;

/// The database can neither be kept on disk nor made in memory.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot make the database of the project, not even in memory; deleting `.stepmark/local/cache/` does no harm"
)]
pub struct IndexError {
    source: SqliteError,
}

impl IndexError {
    pub(crate) const fn of(source: rusqlite::Error) -> Self {
        Self { source: SqliteError(source) }
    }
}

/// A reason why a query is not answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// SQLite does not understand it.
    #[error("the query is no SQL that this database understands: {message}")]
    Sql {
        /// The message of SQLite.
        message: String,
        /// The position in the query, in bytes, if SQLite gives it.
        offset: Option<usize>,
        /// The names that may have been meant.
        near: Vec<String>,
    },
    /// It would do something else than read.
    #[error("the query is not carried out: {what} is not reading, and the database is only read")]
    NotReading {
        /// The operation that it would carry out.
        what: String,
    },
    /// There is none.
    #[error("there is no query: write one statement that begins with SELECT, WITH or VALUES")]
    Nothing,
    /// It is more than one statement.
    #[error("several statements are not carried out: run one query at a time")]
    Several,
    /// A parameter has no value.
    #[error("the query has the parameter `{name}`, and no value is given for it")]
    Unbound {
        /// The name, as it stands in the query.
        name: String,
    },
    /// A value has no parameter.
    #[error("the query has no parameter `:{name}`")]
    Unknown {
        /// The name that was given.
        name: String,
    },
    /// It takes too long.
    #[error("the query was stopped: it was not answered within {} s", limit.as_secs_f32())]
    TooLong {
        /// The limit.
        limit: Duration,
    },
    /// It has too many rows.
    #[error("the query was stopped: it has more than {limit} rows")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// It has too much to say.
    #[error("the query was stopped: its answer is longer than {} MiB", limit / 1024 / 1024)]
    TooLarge {
        /// The number of bytes that the answer may have.
        limit: usize,
    },
    /// It needs too much memory, as for what it sorts or joins.
    #[error("the query was stopped: it needs more than {} MiB of memory", limit / 1024 / 1024)]
    TooMuchMemory {
        /// The number of bytes that SQLite may take.
        limit: u64,
    },
    /// The database fails while it is read.
    #[error("the database of the project cannot be read; deleting `.stepmark/local/cache/` does no harm")]
    Database {
        /// The error of SQLite.
        source: SqliteError,
    },
}
