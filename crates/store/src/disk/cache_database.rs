//! A SQLite database in the cache folder: opened, checked, and emptied if it is not ours or not whole.
//!
//! Without git the folder is among the project's files, and may have come with them. A link in place of one
//! of these files is removed, never followed, since these databases are emptied at will. So is a database of
//! another version, with foreign tables, triggers or views, or damaged. It is emptied in place since other
//! processes may have it open; readers keep their snapshot.
#![expect(clippy::disallowed_methods, reason = "an edge module: it is waited for locks here")]

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use crate::disk::{
    file_lock,
    local_state::{LocalState, StateFolder},
    own_file::remove_if_there,
    root::Root,
};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, config::DbConfig};
use stepmark_model::artifact::FileHash;

const PAUSE: Duration = Duration::from_millis(2);
const PATIENCE_TO_EMPTY: Duration = Duration::from_millis(500);

/// Hides the SQLite library's type.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct SqliteError(pub(crate) rusqlite::Error);

#[derive(Clone, Copy, Debug)]
pub struct CacheLayout {
    pub name: &'static str,
    /// Increase it if rows get another meaning in the same columns.
    pub meaning: u32,
    /// Spelled as SQLite stores them.
    pub definitions: fn() -> Vec<String>,
    /// A full-text table, whose shadow tables (SQLite, "FTS5 Data Structures") are expected, too.
    pub shadow_of: Option<&'static str>,
    pub rows: &'static str,
    /// In KiB.
    pub page_cache: i64,
    /// In pages: a writer copies a longer log to the database; 0 for no limit.
    pub copied_at: u32,
    /// The longest wait for another process's lock.
    pub patience: Duration,
}

#[derive(Debug)]
pub struct CacheDatabase {
    pub connection: Connection,
    layout: &'static CacheLayout,
    /// `None` in memory.
    files: Option<DatabaseFiles>,
}

#[derive(Debug, thiserror::Error)]
pub enum CacheUnavailable {
    #[error("SQLite says: {0}")]
    Database(#[from] rusqlite::Error),
    #[error("{0}")]
    Files(#[from] io::Error),
}

impl CacheLayout {
    /// Creates it, or replaces one that is foreign or damaged.
    pub fn open(&'static self, root: &Root) -> Result<CacheDatabase, CacheUnavailable> {
        let files = DatabaseFiles::of(root, self.name)?;
        files.make_folder()?;
        files.remove_links()?;
        let opened = self.connect(&files).and_then(|connection| {
            let is_current = self.is_in(&connection)?;
            if !is_current && is_empty(&connection)? {
                self.make_on_disk(&connection)?;
                return Ok(Some(connection));
            }
            Ok(is_current.then_some(connection))
        });
        let connection = match opened {
            Ok(Some(connection)) => connection,
            Err(error) if !is_corrupt(&error) => return Err(error.into()),
            _ => {
                // Another process may have done it meanwhile.
                self.reset(&files, |connection| self.is_in(connection).unwrap_or(false))?;
                self.connect(&files)?
            }
        };
        Ok(CacheDatabase { connection, layout: self, files: Some(files) })
    }

    /// `None` if there is none of this version.
    pub fn open_to_read(&self, root: &Root) -> Option<Connection> {
        let files = DatabaseFiles::of(root, self.name).ok()?;
        let connection = files.connect(OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        self.configure(&connection).ok()?;
        // A snapshot: queries see what was checked, even if the database is replaced.
        connection.execute_batch("BEGIN").ok()?;
        self.is_in(&connection).is_ok_and(|is_current| is_current).then_some(connection)
    }

    /// Of any version.
    pub fn is_there(&self, root: &Root) -> bool {
        DatabaseFiles::of(root, self.name).is_ok_and(|files| files.is_there())
    }

    pub fn in_memory(&'static self) -> rusqlite::Result<CacheDatabase> {
        let connection = Connection::open_in_memory()?;
        self.configure(&connection)?;
        self.make(&connection)?;
        Ok(CacheDatabase { connection, layout: self, files: None })
    }

    /// Serialises updates; the lock ends with the process.
    pub fn lock(&self, root: &Root) -> io::Result<File> {
        self.locked(&DatabaseFiles::of(root, self.name)?, ".lock")
    }

    fn locked(&self, files: &DatabaseFiles, suffix: &str) -> io::Result<File> {
        let lock = files.open_lock(suffix)?;
        let began = Instant::now();
        loop {
            match file_lock::try_exclusive(&lock) {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) if began.elapsed() < self.patience => thread::sleep(PAUSE),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn connect(&self, files: &DatabaseFiles) -> rusqlite::Result<Connection> {
        let connection = files.connect(WRITING)?;
        self.configure(&connection)?;
        // WAL: readers are not blocked. A kill leaves a whole database; a power loss may take the last
        // writes, never their order, since the log is flushed before its pages are copied.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "wal_autocheckpoint", self.copied_at)?;
        // A process whose files were deleted must not remove its successor's log.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        Ok(connection)
    }

    fn configure(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection.busy_timeout(self.patience)?;
        connection.set_prepared_statement_cache_capacity(64);
        connection.pragma_update(None, "cache_size", -self.page_cache)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update(None, "trusted_schema", false)
    }

    /// A digest of the definitions and the program, so that other rows are not mistaken for these.
    fn version(&self, definitions: &[String]) -> i64 {
        let text = format!("{}\n{}\n{}", self.meaning, env!("CARGO_PKG_VERSION"), definitions.join(";\n"));
        let digest = FileHash::of(text.as_bytes());
        let [first, second, third, fourth, ..] = *digest.as_bytes();
        // SQLite keeps a signed 32-bit number; an empty database has 0.
        i64::from(i32::from_be_bytes([first & 0x7f, second, third, fourth])).max(1)
    }

    /// True if the database has exactly these tables. The version proves nothing: a database that came with a
    /// clone may have any, and a trigger besides.
    pub(crate) fn is_in(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let mut wanted = (self.definitions)();
        let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if found != self.version(&wanted) {
            return Ok(false);
        }
        // Indices of unique columns and shadow tables have no statements.
        let mut statement = connection.prepare(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL
             AND NOT (?1 IS NOT NULL AND type = 'table' AND name IN (?1 || '_data', ?1 || '_idx', ?1 || '_docsize', ?1 || '_config', ?1 || '_content'))",
        )?;
        let found = statement.query_map([self.shadow_of], |row| row.get(0))?;
        let mut found = found.collect::<rusqlite::Result<Vec<String>>>()?;
        wanted.sort_unstable();
        found.sort_unstable();
        Ok(found == wanted)
    }

    pub(crate) fn make(&self, connection: &Connection) -> rusqlite::Result<()> {
        let definitions = (self.definitions)();
        connection.execute_batch(&definitions.join(";\n"))?;
        connection.execute_batch(self.rows)?;
        connection.pragma_update(None, "user_version", self.version(&definitions))
    }

    fn make_on_disk(&self, connection: &Connection) -> rusqlite::Result<()> {
        let transaction = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
        // Another process may have created them meanwhile.
        if !self.is_in(&transaction)? {
            self.make(&transaction)?;
        }
        transaction.commit()
    }

    /// Empties a database, however damaged, and creates its tables, unless another process did (`is_done`).
    fn reset(
        &self,
        files: &DatabaseFiles,
        is_done: impl Fn(&Connection) -> bool,
    ) -> Result<(), CacheUnavailable> {
        let _lock = self.locked(files, ".reset")?;
        let connection = files.connect(WRITING)?;
        connection.busy_timeout(PATIENCE_TO_EMPTY)?;
        // If the database is whole enough, a connection that uses the log blocks only writers.
        let _of_no_matter = is_empty(&connection);
        if is_done(&connection) {
            return Ok(());
        }
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
        connection.execute_batch("VACUUM")?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
        Ok(self.make_on_disk(&connection)?)
    }
}

impl CacheDatabase {
    pub(crate) const fn is_on_disk(&self) -> bool {
        self.files.is_some()
    }

    pub fn renew(self) -> Result<Self, CacheUnavailable> {
        let Self { connection, layout, files } = self;
        let Some(files) = files else { return Ok(layout.in_memory()?) };
        drop(connection);
        layout.reset(&files, |_| false)?;
        Ok(Self { connection: layout.connect(&files)?, layout, files: Some(files) })
    }

    /// Checkpoints and truncates a log of more than `limit` bytes, which slows every open. If another process
    /// is reading, a later one does it.
    pub(crate) fn shorten_log(&self, limit: u64) -> rusqlite::Result<()> {
        if self.files.as_ref().is_some_and(|files| files.has_log_longer_than(limit)) {
            self.connection.busy_timeout(Duration::ZERO)?;
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            self.connection.busy_timeout(self.layout.patience)?;
        }
        Ok(())
    }
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
}

/// True if the database is damaged, or has foreign tables.
pub fn is_corrupt(error: &rusqlite::Error) -> bool {
    let code = match error {
        rusqlite::Error::SqliteFailure(failure, _) => failure.code,
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::QueryReturnedNoRows
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..) => return true,
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

const SUFFIXES: [&str; 4] = ["-wal", "-shm", "-journal", ""];
pub(super) const WRITING: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_CREATE);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DatabaseFiles {
    state: LocalState,
    /// Absolute, without links.
    folder: PathBuf,
    name: &'static str,
}

impl DatabaseFiles {
    /// Creates nothing. Fails if the folder is a link or another user's.
    pub(super) fn of(root: &Root, name: &'static str) -> io::Result<Self> {
        let state = root.state().clone();
        Ok(Self { folder: state.folder(StateFolder::Cache)?, state, name })
    }

    pub(super) fn make_folder(&self) -> io::Result<()> {
        Ok(self.state.make(StateFolder::Cache).map(drop)?)
    }

    pub(super) fn open_lock(&self, suffix: &str) -> io::Result<File> {
        self.make_folder()?;
        let lock = self.place(suffix);
        remove_link(&lock)?;
        without_following().create(true).truncate(false).write(true).open(lock)
    }

    pub(super) fn remove_links(&self) -> io::Result<()> {
        SUFFIXES.iter().try_for_each(|suffix| remove_link(&self.place(suffix)))
    }

    /// Does not follow links.
    pub(super) fn connect(&self, flags: OpenFlags) -> rusqlite::Result<Connection> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        Connection::open_with_flags(self.place(""), flags)
    }

    pub(super) fn has_log_longer_than(&self, limit: u64) -> bool {
        fs::symlink_metadata(self.place("-wal")).is_ok_and(|log| log.len() > limit)
    }

    pub(super) fn is_there(&self) -> bool {
        fs::symlink_metadata(self.place("")).is_ok_and(|file| file.is_file())
    }

    fn place(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}{suffix}", self.name))
    }
}

fn remove_link(place: &Path) -> io::Result<()> {
    if fs::symlink_metadata(place).is_ok_and(|found| found.is_symlink()) {
        remove_if_there(place)
    } else {
        Ok(())
    }
}

#[cfg(unix)]
fn without_following() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;

    let mut options = OpenOptions::new();
    options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    options
}

/// On other systems git creates links only if configured.
#[cfg(not(unix))]
fn without_following() -> OpenOptions {
    OpenOptions::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    static LAYOUT: CacheLayout = CacheLayout {
        name: "x.db",
        meaning: 1,
        definitions: || vec!["CREATE TABLE x (y)".to_owned()],
        shadow_of: None,
        rows: "INSERT INTO x VALUES (7)",
        page_cache: 1024,
        copied_at: 0,
        patience: Duration::from_secs(5),
    };

    fn rows(connection: &Connection) -> rusqlite::Result<Vec<i64>> {
        connection.prepare("SELECT y FROM x")?.query_map([], |row| row.get(0))?.collect()
    }

    #[test]
    fn another_definition_meaning_or_program_is_another_version() {
        let now = (LAYOUT.definitions)();
        let other: Vec<String> = now.iter().map(|sql| sql.replace('y', "z")).collect();
        assert_eq!(LAYOUT.version(&now), LAYOUT.version(&now));
        assert_ne!(LAYOUT.version(&now), LAYOUT.version(&other));
        assert_ne!(LAYOUT.version(&now), CacheLayout { meaning: 2, ..LAYOUT }.version(&now));
        assert!(LAYOUT.version(&now) > 0);
    }

    #[test]
    fn who_reads_a_database_that_is_emptied_goes_on_with_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let first = LAYOUT.open(&root).unwrap();
        first.connection.execute_batch("INSERT INTO x VALUES (8)").unwrap();
        let reading = LAYOUT.open_to_read(&root).unwrap();
        assert_eq!(rows(&reading).unwrap(), [7, 8]);
        let second = LAYOUT.open(&root).unwrap().renew().unwrap();
        assert_eq!(rows(&second.connection).unwrap(), [7]);
        assert_eq!(rows(&reading).unwrap(), [7, 8]);
        assert_eq!(rows(&first.connection).unwrap(), [7], "and what is open sees the new one");
        second
            .connection
            .execute_batch("CREATE TRIGGER t AFTER INSERT ON x BEGIN DELETE FROM x; END")
            .unwrap();
        assert!(LAYOUT.open_to_read(&root).is_none());
        assert!(LAYOUT.is_in(&LAYOUT.open(&root).unwrap().connection).unwrap());
    }
}

#[cfg(test)]
mod database_files_tests {
    #[cfg(unix)]
    use std::os::unix::fs::symlink;

    use super::*;

    #[cfg(unix)]
    fn project() -> (tempfile::TempDir, DatabaseFiles) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("project/.stepmark/local/cache")).unwrap();
        let root = Root::open(folder.path().join("project")).unwrap();
        (folder, DatabaseFiles::of(&root, "x.db").unwrap())
    }

    #[cfg(unix)]
    #[test]
    fn links_are_taken_away_and_never_followed() {
        for is_there in [true, false] {
            let (outside, files) = project();
            let names = ["x.db.lock", "x.db", "x.db-wal", "x.db-shm", "x.db-journal"];
            for (number, name) in names.iter().enumerate() {
                let target = outside.path().join(number.to_string());
                if is_there {
                    fs::write(&target, "").unwrap();
                }
                symlink(target, files.folder.join(name)).unwrap();
            }
            let _lock = files.open_lock(".lock").unwrap();
            assert!(files.connect(WRITING).is_err(), "SQLite follows none either");
            files.remove_links().unwrap();
            let connection = files.connect(WRITING).unwrap();
            connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE x (y)").unwrap();
            let read = files.connect(OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
            assert_eq!(read.query_row("SELECT COUNT(*) FROM x", [], |row| row.get(0)), Ok(0));
            for (number, name) in names.iter().enumerate() {
                let found = fs::read(outside.path().join(number.to_string()));
                assert_eq!(found.ok(), is_there.then(Vec::new), "{name}");
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_no_database_to_be_read() {
        let (outside, files) = project();
        let target = outside.path().join("other.db");
        Connection::open(&target).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
        symlink(&target, files.place("")).unwrap();
        assert!(files.connect(OpenFlags::SQLITE_OPEN_READ_ONLY).is_err());
        files.remove_links().unwrap();
        assert!(target.exists() && !files.place("").is_symlink());
    }
}
