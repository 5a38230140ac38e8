//! The database that says where each event stands: on disk where that is possible, else in memory.

use std::{cell::RefCell, fs::File, io, time::Duration};

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, config::DbConfig};

use crate::disk::{database_files::DatabaseFiles, root::Root};
use crate::history::{EventReader, HistoryError, schema};

/// The name of the database in `.stepmark/local/cache/`.
const NAME: &str = "journal.db";
/// How long another process may keep the database for itself before this one works in memory.
const PATIENCE: Duration = Duration::from_secs(5);
/// How much memory SQLite may use for pages, in KiB.
const PAGE_CACHE: i64 = 48 * 1024;

/// A log of more bytes than this is emptied: somewhat more than [`COPIED_AT`] pages.
const LONG_LOG: u64 = 4 * 1024 * 1024;
/// How many pages the log may have before they are copied into the database.
const COPIED_AT: i64 = 400;

/// An open index.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) connection: Connection,
    pub(super) reader: RefCell<EventReader>,
    pub(super) place: IndexPlace,
    /// Those of the database on disk.
    files: Option<DatabaseFiles>,
    /// Held, shared, as long as the files are in use: they are deleted only under the exclusive lock.
    _lock: Option<File>,
}

/// Where an index is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexPlace {
    /// In `.stepmark/local/cache/journal.db`.
    Disk,
    /// In memory, for this run.
    Memory,
}

/// Why a question to the index has no answer yet.
#[derive(Debug)]
pub(super) enum Fault {
    /// The database fails; another one may not.
    Database(rusqlite::Error),
    /// A segment is not where, or does not hold what, the index says.
    Stale,
    /// It has no answer.
    Failed(HistoryError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<HistoryError> for Fault {
    fn from(error: HistoryError) -> Self {
        Self::Failed(error)
    }
}

impl Index {
    /// Opens the index on disk, and makes it where there is none or one of another version.
    ///
    /// # Errors
    /// When the folder or the database cannot be made or written, or is in use for too long.
    pub(super) fn on_disk(root: &Root) -> Result<Self, IndexUnavailable> {
        let files = DatabaseFiles::of(root, NAME)?;
        let lock = files.open_lock()?;
        crate::disk::file_lock::shared(&lock)?;
        files.remove_links()?;
        let mut connection = files.open()?;
        connection.busy_timeout(PATIENCE)?;
        configure(&connection)?;
        // A killed process leaves a whole database; after a loss of power it may lack the latest events, never their
        // order: the log is flushed before its pages are copied into the database.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // Copying costs flushes, and a long log costs the next process the time to look through it.
        connection.pragma_update(None, "wal_autocheckpoint", COPIED_AT)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        if schema::is_current(&connection)? && !schema::is_own(&connection)? {
            return Err(IndexUnavailable::Foreign);
        }
        if !schema::is_current(&connection)? {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another process may have made it while this one waited.
            if !schema::is_current(&transaction)? {
                schema::reset(&transaction)?;
            }
            transaction.commit()?;
        }
        let mut index = Self::new(connection, IndexPlace::Disk, Some(lock), root);
        index.files = Some(files);
        Ok(index)
    }

    /// Makes an empty index in memory.
    pub(super) fn in_memory(root: &Root) -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        configure(&connection)?;
        schema::reset(&connection)?;
        Ok(Self::new(connection, IndexPlace::Memory, None, root))
    }

    fn new(connection: Connection, place: IndexPlace, lock: Option<File>, root: &Root) -> Self {
        connection.set_prepared_statement_cache_capacity(64);
        let reader = RefCell::new(EventReader::new(root.clone()));
        Self { connection, reader, place, files: None, _lock: lock }
    }

    /// Deletes the index on disk, if no process uses it.
    ///
    /// # Errors
    /// When another process uses it, or it cannot be deleted.
    pub(super) fn delete(root: &Root) -> Result<(), IndexUnavailable> {
        let files = DatabaseFiles::of(root, NAME)?;
        let lock = files.open_lock()?;
        crate::disk::file_lock::try_exclusive(&lock).map_err(io::Error::from)?;
        Ok(files.delete()?)
    }

    /// Empties a long log, as after a large filling: every process that opens the database looks through it. Where another
    /// process reads just now, a later one does it.
    pub(super) fn shorten_log(&self) -> rusqlite::Result<()> {
        if self.files.as_ref().is_some_and(|files| files.has_log_longer_than(LONG_LOG)) {
            self.connection.busy_timeout(Duration::ZERO)?;
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            self.connection.busy_timeout(PATIENCE)?;
        }
        Ok(())
    }

    /// A transaction that keeps other writers out from its beginning.
    pub(super) fn write(&self) -> rusqlite::Result<Transaction<'_>> {
        Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
    }
}

/// The index on disk cannot be used.
#[derive(Debug)]
pub(super) enum IndexUnavailable {
    /// The database says so.
    Database(rusqlite::Error),
    /// It has definitions of somebody else.
    Foreign,
    /// Its files cannot be reached, or are in use.
    Files,
}

impl IndexUnavailable {
    /// Whether the file is no database that can be read: deleting it helps.
    pub(super) fn is_corrupt(&self) -> bool {
        match self {
            Self::Database(error) => is_corrupt(error),
            Self::Foreign => true,
            Self::Files => false,
        }
    }
}

impl From<rusqlite::Error> for IndexUnavailable {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<io::Error> for IndexUnavailable {
    fn from(_: io::Error) -> Self {
        Self::Files
    }
}

/// Whether the database itself is at fault: its bytes are damaged, or it has tables of its own.
pub(super) fn is_corrupt(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => {
            matches!(
                failure.code,
                ErrorCode::DatabaseCorrupt
                    | ErrorCode::NotADatabase
                    | ErrorCode::Unknown
                    | ErrorCode::ConstraintViolation
                    | ErrorCode::TypeMismatch
            )
        }
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::QueryReturnedNoRows
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..) => true,
        _ => false,
    }
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "cache_size", -PAGE_CACHE)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "trusted_schema", false)
}
