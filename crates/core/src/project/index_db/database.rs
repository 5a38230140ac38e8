//! The file `.stepmark/cache/index.db`: opened, made, made anew; in memory where it cannot be written.
#![expect(clippy::disallowed_methods, reason = "an edge module: the database and its lock are opened here")]

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, config::DbConfig};

use super::schema;
use crate::{artifact::ProjectPath, root::Root};

/// The folder of everything disposable, seen from the project root.
const CACHE_FOLDER: &str = ".stepmark/cache";
/// The name of the database in it.
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
    place: Place,
    _lock: Option<File>,
}

/// Where a database is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// In this file.
    Disk(PathBuf),
    /// In memory, for this run.
    Memory,
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
        let folder = cache_folder(root)?;
        let lock = lock(&folder)?;
        let file = folder.join(NAME);
        let connection = match open(&file) {
            Ok(connection) => connection,
            Err(error) if is_corrupt(&error) => {
                delete(&folder)?;
                open(&file)?
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Self { connection, place: Place::Disk(file), _lock: Some(lock) })
    }

    /// The same, after deleting what is there.
    ///
    /// # Errors
    /// Those of [`Database::on_disk`].
    pub(crate) fn anew(root: &Root) -> Result<Self, Unavailable> {
        let folder = cache_folder(root)?;
        let lock = lock(&folder)?;
        delete(&folder)?;
        let file = folder.join(NAME);
        Ok(Self { connection: open(&file)?, place: Place::Disk(file), _lock: Some(lock) })
    }

    /// An empty database in memory.
    ///
    /// # Errors
    /// When SQLite fails, as for want of memory.
    pub(crate) fn in_memory() -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        configure(&connection)?;
        schema::make(&connection)?;
        Ok(Self { connection, place: Place::Memory, _lock: None })
    }

    /// The database on disk as it is, for reading only; `None` where there is none of this version.
    pub(crate) fn as_it_is(root: &Root) -> Option<Connection> {
        let folder = root.resolve(&ProjectPath::new(CACHE_FOLDER).ok()?).ok()?;
        let connection = open_to_read(&folder.join(NAME)).ok()?;
        schema::is_current(&connection).is_ok_and(|is_current| is_current).then_some(connection)
    }

    /// Copies a long log into the database and empties it. Where another process reads just now, a later refresh does it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn shorten_log(&self) -> rusqlite::Result<()> {
        let Place::Disk(file) = &self.place else { return Ok(()) };
        let log = file.with_file_name(format!("{NAME}-wal"));
        if fs::metadata(log).is_ok_and(|log| log.len() > LONG_LOG) {
            self.connection.busy_timeout(Duration::ZERO)?;
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            self.connection.busy_timeout(PATIENCE)?;
        }
        Ok(())
    }

    /// A connection that can only read: another one where the database is on disk, which gives the lock back; the same one otherwise.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub(crate) fn into_reading(self) -> rusqlite::Result<Connection> {
        match &self.place {
            Place::Disk(file) => open_to_read(file),
            Place::Memory => {
                self.connection.pragma_update(None, "query_only", true)?;
                Ok(self.connection)
            }
        }
    }
}

fn open_to_read(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(PATIENCE)?;
    configure(&connection)?;
    Ok(connection)
}

/// Opens the database, with empty tables where it had others.
fn open(file: &Path) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open(file)?;
    connection.busy_timeout(PATIENCE)?;
    configure(&connection)?;
    // Readers go on while it is written. A killed process leaves a whole database; a loss of power may take the latest refresh.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    // That is done by `shorten_log`.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // A process whose files somebody deleted must not take away the log of the database that was made in their place.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    if !schema::is_current(&connection)? {
        drop_everything(&mut connection)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        schema::make(&transaction)?;
        transaction.commit()?;
    }
    Ok(connection)
}

/// Takes everything out of a database of another version. Whoever reads it goes on with what was there.
fn drop_everything(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut statement =
        transaction.prepare("SELECT type, name FROM sqlite_schema WHERE type IN ('view', 'table')")?;
    let named = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let named: Vec<(String, String)> = named.collect::<Result<_, _>>()?;
    drop(statement);
    for (kind, name) in named.iter().filter(|(_, name)| !name.starts_with("sqlite_")) {
        let name = name.replace('"', "\"\"");
        transaction.execute_batch(&format!("DROP {kind} IF EXISTS \"{name}\""))?;
    }
    transaction.commit()
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

/// The folder of the cache, made where it is missing, with a file that keeps it out of git in a project without `init`.
fn cache_folder(root: &Root) -> Result<PathBuf, Unavailable> {
    let path = ProjectPath::new(CACHE_FOLDER).map_err(io::Error::other)?;
    let folder = root.resolve(&path).map_err(io::Error::other)?;
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        fs::create_dir_all(&folder)?;
        fs::write(ignore, "*\n")?;
    }
    Ok(folder)
}

/// Takes the lock of whoever brings the database up to date; it ends with the process, however that ends.
fn lock(folder: &Path) -> io::Result<File> {
    let options = File::options().create(true).truncate(false).write(true).clone();
    let file = options.open(folder.join(format!("{NAME}.lock")))?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => thread::sleep(PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Deletes the database under the lock. The log first: a database without its log is whole, the log of another one would be poison.
fn delete(folder: &Path) -> io::Result<()> {
    for suffix in ["-wal", "-shm", "-journal", ""] {
        match fs::remove_file(folder.join(format!("{NAME}{suffix}"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
