//! The file `.stepmark/local/cache/index.db`: opened, made, made anew; in memory where it cannot be written.
#![expect(clippy::disallowed_methods, reason = "an edge module: the database and its lock are opened here")]

use std::{
    fs::{File, TryLockError},
    io, thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, TransactionBehavior, config::DbConfig, ffi};

use crate::disk::{database_files::DatabaseFiles, root::Root};
use crate::index_db::schema;

/// The name of the database in `.stepmark/local/cache/`.
const NAME: &str = "index.db";
/// How long another process may bring it up to date before this one works in memory.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often that is looked at.
const PAUSE: Duration = Duration::from_millis(2);
/// How much memory SQLite may use for pages, in KiB.
const PAGE_CACHE: i64 = 32 * 1024;
/// A log of more bytes than this is emptied: every process that opens the database looks through it.
const LONG_LOG: u64 = 512 * 1024;

/// An open database, to be written by this process alone: it holds the lock.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) connection: Connection,
    /// What it says of changes by others, from before anything was read.
    version: i64,
    /// Its files and their lock; `None` in memory.
    on_disk: Option<(DatabaseFiles, File)>,
}

/// Why there is no database on disk.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unavailable {
    /// SQLite says so.
    #[error("SQLite says: {0}")]
    Database(#[from] rusqlite::Error),
    /// Its folder or lock cannot be used, or another process keeps it for too long.
    #[error("{0}")]
    Files(#[from] io::Error),
}

impl Database {
    /// Opens the database on disk to bring it up to date, and makes it where there is none, or one of another version, or a damaged
    /// one. Waits for another process that is at it.
    ///
    /// # Errors
    /// When it cannot be made or written, or is in use for too long.
    pub(crate) fn on_disk(root: &Root) -> Result<Self, Unavailable> {
        let (files, lock) = locked(root)?;
        let connection = match open(&files) {
            Err(Unavailable::Database(error)) if is_corrupt(&error) => {
                files.delete()?;
                open(&files)?
            }
            opened => opened?,
        };
        Ok(Self::new(connection, Some((files, lock)))?)
    }

    /// The same, after deleting what is there.
    ///
    /// # Errors
    /// Those of [`Database::on_disk`].
    pub(crate) fn anew(root: &Root) -> Result<Self, Unavailable> {
        let (files, lock) = locked(root)?;
        files.delete()?;
        Ok(Self::new(open(&files)?, Some((files, lock)))?)
    }

    /// An empty database in memory.
    ///
    /// # Errors
    /// When SQLite fails, as for want of memory.
    pub(crate) fn in_memory() -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        configure(&connection)?;
        schema::make(&connection)?;
        Self::new(connection, None)
    }

    fn new(connection: Connection, on_disk: Option<(DatabaseFiles, File)>) -> rusqlite::Result<Self> {
        Ok(Self { version: data_version(&connection)?, connection, on_disk })
    }

    /// The database on disk as it is, for reading only; `None` where there is none of this version.
    pub(crate) fn as_it_is(root: &Root) -> Option<Connection> {
        let connection = DatabaseFiles::of(root, NAME).ok()?.open_to_read().ok()?;
        connection.busy_timeout(PATIENCE).ok()?;
        configure(&connection).ok()?;
        // What is asked is what was looked at here, whoever makes it anew in between.
        connection.execute_batch("BEGIN").ok()?;
        schema::is_current(&connection).is_ok_and(|is_current| is_current).then_some(connection)
    }

    /// Copies a long log into the database and empties it. Where another process reads just now, a later refresh does it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn shorten_log(&self) -> rusqlite::Result<()> {
        if self.on_disk.as_ref().is_some_and(|(files, _)| files.has_log_longer_than(LONG_LOG)) {
            self.connection.busy_timeout(Duration::ZERO)?;
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            self.connection.busy_timeout(PATIENCE)?;
        }
        Ok(())
    }

    /// Gives the lock back. The connection can only read from now on, and goes on seeing what it holds now, whatever becomes of the
    /// files.
    ///
    /// # Errors
    /// When the database cannot be read, or [another process changed it](was_changed).
    pub(crate) fn into_reading(self) -> rusqlite::Result<Connection> {
        let Self { connection, version, on_disk: _lock } = self;
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

/// Whether another process changed the database while this one held the lock: so it is where somebody deletes the files, and the lock
/// among them.
pub(crate) fn was_changed(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|failure| failure.extended_code == ffi::SQLITE_BUSY_SNAPSHOT)
}

/// A number that differs when another connection has changed the database in between.
fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0))
}

/// The files of the database, and its lock, which ends with the process, however that ends.
fn locked(root: &Root) -> io::Result<(DatabaseFiles, File)> {
    let files = DatabaseFiles::of(root, NAME)?;
    let lock = files.open_lock()?;
    let began = Instant::now();
    loop {
        match crate::disk::file_lock::try_exclusive(&lock) {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => thread::sleep(PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
    files.remove_links()?;
    Ok((files, lock))
}

/// Opens the database, with empty tables where it had others: those may be anything, so the files are deleted. Whoever reads them
/// goes on with what was there.
fn open(files: &DatabaseFiles) -> Result<Connection, Unavailable> {
    let connection = open_for_writing(files)?;
    if schema::is_current(&connection)? {
        return Ok(connection);
    }
    drop(connection);
    files.delete()?;
    let mut connection = open_for_writing(files)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    schema::make(&transaction)?;
    transaction.commit()?;
    Ok(connection)
}

fn open_for_writing(files: &DatabaseFiles) -> rusqlite::Result<Connection> {
    let connection = files.open()?;
    connection.busy_timeout(PATIENCE)?;
    configure(&connection)?;
    // Readers go on while it is written. A killed process leaves a whole database; a loss of power may take the latest refresh.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // That is done by `shorten_log`.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // A process whose files somebody deleted must not take away the log of the database that was made in their place.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "cache_size", -PAGE_CACHE)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "trusted_schema", false)
}

/// Whether the database itself is at fault: its bytes are damaged, or it has tables of its own.
pub(crate) fn is_corrupt(error: &rusqlite::Error) -> bool {
    let code = match error {
        rusqlite::Error::SqliteFailure(failure, _) => failure.code,
        rusqlite::Error::SqlInputError { error, .. } => error.code,
        rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::InvalidColumnType(..) => {
            return true;
        }
        _ => return false,
    };
    matches!(
        code,
        ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::Unknown
            | ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch
    )
}
