//! The file `.stepmark/local/cache/index.db`: opened, made, made anew; in memory where it cannot be written.

use std::fs::File;

use rusqlite::{Connection, ffi};

use crate::disk::{CacheDatabase, CacheUnavailable as Unavailable, root::Root};
use crate::index_db::schema::LAYOUT;

/// A log of more bytes than this is emptied: every process that opens the database looks through it.
const LONG_LOG: u64 = 512 * 1024;

/// An open database, to be written by this process alone: it holds the lock.
#[derive(Debug)]
pub(crate) struct Database {
    database: CacheDatabase,
    /// The number by which changes by others are seen, from before anything was read.
    version: i64,
    /// `None` in memory.
    lock: Option<File>,
}

impl Database {
    /// Opens the database on disk to bring it up to date, and makes it where there is none, or one of another
    /// version, or a damaged one. Waits for another process that is at it.
    ///
    /// # Errors
    /// When it cannot be made or written, or is in use for too long.
    pub(crate) fn on_disk(root: &Root) -> Result<Self, Unavailable> {
        let lock = LAYOUT.lock(root)?;
        Ok(Self::new(LAYOUT.open(root)?, Some(lock))?)
    }

    /// The same, after emptying what is there.
    ///
    /// # Errors
    /// Those of [`Database::on_disk`].
    pub(crate) fn anew(root: &Root) -> Result<Self, Unavailable> {
        let lock = LAYOUT.lock(root)?;
        Ok(Self::new(LAYOUT.open(root)?.renew()?, Some(lock))?)
    }

    /// An empty database in memory.
    ///
    /// # Errors
    /// When SQLite fails, as for want of memory.
    pub(crate) fn in_memory() -> rusqlite::Result<Self> {
        Self::new(LAYOUT.in_memory()?, None)
    }

    fn new(database: CacheDatabase, lock: Option<File>) -> rusqlite::Result<Self> {
        Ok(Self { version: data_version(&database.connection)?, database, lock })
    }

    /// The database, to be brought up to date.
    pub(crate) const fn connection(&self) -> &Connection {
        &self.database.connection
    }

    /// The database on disk as it is, for reading only; `None` where there is none of this version.
    pub(crate) fn as_it_is(root: &Root) -> Option<Connection> {
        LAYOUT.open_to_read(root)
    }

    /// Empties a long log.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn shorten_log(&self) -> rusqlite::Result<()> {
        self.database.shorten_log(LONG_LOG)
    }

    /// Gives the lock back. The connection can only read from now on, and goes on seeing what it holds now,
    /// whatever becomes of the files.
    ///
    /// # Errors
    /// When the database cannot be read, or [another process changed it](was_changed).
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

/// Returns whether another process changed the database while this one held the lock: so it is where somebody
/// deletes the files, and the lock among them.
pub(crate) fn was_changed(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|failure| failure.extended_code == ffi::SQLITE_BUSY_SNAPSHOT)
}

/// A number that differs when another connection has changed the database in between.
fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0))
}
