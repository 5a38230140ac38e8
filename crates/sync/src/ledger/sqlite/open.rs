//! Opening the ledger's file.
#![expect(clippy::disallowed_methods, reason = "an edge module: the ledger is a file")]

use std::{
    fs, io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::{failed, holder_locks::HolderLocks, read::corrupt, storage};
use crate::{Error, ErrorKind, Result};

pub const LEDGER_FILE: &str = "sync.db";

/// Short, since no request is made inside a transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

const SWITCH_PAUSE: Duration = Duration::from_millis(2);

/// WAL, so that readers never wait; FULL, so that a commit survives a power cut. The file must lie on a local
/// disk.
#[derive(Debug)]
pub struct SqliteLedger {
    pub(super) connection: Connection,
    /// `None` in memory.
    pub(super) holder_locks: Option<HolderLocks>,
}

impl SqliteLedger {
    /// Creates the file and its folder if missing.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| storage("make its folder", error))?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut connection = open_for(path, flags)?;
        let set_up = |connection: &mut Connection| {
            use_write_ahead_log(connection)?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let found = version(&transaction)?;
            match found {
                0 => create(&transaction)?,
                1 => upgrade(&transaction)?,
                _ => {}
            }
            transaction.commit()?;
            Ok(found)
        };
        let found = set_up(&mut connection).map_err(failed("prepare its file"))?;
        Self::of(connection, path, found.max(VERSION))
    }

    /// Read-only; `None` if there is none.
    pub fn open_existing(path: &Path) -> Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let connection = open_for(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let version = match version(&connection) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
                roll_back(path)?;
                version(&connection)
            }
            read => read,
        };
        match version.map_err(failed("read its version"))? {
            // Another process is creating it.
            0 => Ok(None),
            1 => Self::open(path).map(Some),
            found => Self::of(connection, path, found).map(Some),
        }
    }

    /// Read-only; an empty ledger if there is none.
    pub fn open_to_look(path: &Path) -> Result<Self> {
        Self::open_existing(path)?.map_or_else(Self::in_memory, Ok)
    }

    pub fn in_memory() -> Result<Self> {
        Self::of_memory(":memory:")
    }

    pub(crate) fn of_memory(name: &str) -> Result<Self> {
        let opened = Connection::open(name).and_then(|connection| {
            if version(&connection)? == 0 {
                create(&connection)?;
            }
            Ok(connection)
        });
        Ok(Self { connection: opened.map_err(failed("make it in memory"))?, holder_locks: None })
    }

    /// 10 s at first.
    pub fn set_patience(&mut self, patience: Duration) -> Result<()> {
        self.connection.busy_timeout(patience).map_err(failed("set its timeout"))
    }

    fn of(connection: Connection, path: &Path, found: i64) -> Result<Self> {
        if found > VERSION {
            let message = format!(
                "`{}` was written by a newer stepmark (its tables have version {found}, this one knows {VERSION}): update stepmark",
                path.display()
            );
            return Err(Error::new(ErrorKind::Io, message));
        }
        let has_all = connection
            .prepare("SELECT 1 FROM links, intents, deliveries, trackers, leases, breakers, paces")
            .map(drop);
        has_all.map_err(corrupt("list of tables"))?;
        Ok(Self { connection, holder_locks: Some(HolderLocks::beside(path)) })
    }
}

/// Rolls back what a dead process has begun: a read-only connection may not (`SQLITE_READONLY_ROLLBACK`).
fn roll_back(path: &Path) -> Result<()> {
    let connection = open_for(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    version(&connection).map(drop).map_err(failed("take back what was not finished"))
}

fn open_for(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let connection = open_with(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failed("set its timeout"))?;
    Ok(connection)
}

/// Follows no link at `path`: it may have come with a clone, and lead to anybody's database.
fn open_with(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let refused = |error: io::Error| storage("open its file", error);
    if path.is_symlink() {
        let reason =
            format!("`{}` is a link, and what it leads to is left alone: delete the link", path.display());
        return Err(refused(io::Error::other(reason)));
    }
    // Told to follow no links, SQLite refuses links in folders, too.
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let place = fs::canonicalize(folder).map_err(refused)?.join(path.file_name().unwrap_or_default());
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    Connection::open_with_flags(place, flags).map_err(failed("open its file"))
}

/// `memory` and network files have no WAL, and do without. If several processes switch a new file at once,
/// SQLite reports busy to all but one without waiting for `busy_timeout`, so they try again.
fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<()> {
    let begun = Instant::now();
    loop {
        // The answer is the mode that it has now.
        match connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begun.elapsed() < BUSY_TIMEOUT =>
            {
                thread::sleep(SWITCH_PAUSE);
            }
            answer => return answer,
        }
    }
}

/// In `user_version`.
pub(super) const VERSION: i64 = 2;

/// Keys are texts, so that the `sqlite3` program can show them. Times are milliseconds since 1970. `state` is
/// JSON. `source` is of earlier programs, which go on reading it.
const TABLES: &str = "
    CREATE TABLE links (
        tracker TEXT NOT NULL, marker TEXT NOT NULL, remote_id TEXT NOT NULL, remote TEXT NOT NULL,
        digest TEXT, source TEXT, projected TEXT, linked_at INTEGER NOT NULL,
        PRIMARY KEY (tracker, marker)
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX links_by_remote ON links (tracker, remote_id);
    CREATE TABLE intents (
        tracker TEXT NOT NULL, marker TEXT NOT NULL, action TEXT NOT NULL, digest TEXT NOT NULL,
        lease_number INTEGER NOT NULL, begun_at INTEGER NOT NULL,
        PRIMARY KEY (tracker, marker)
    ) WITHOUT ROWID;
    CREATE TABLE deliveries (
        tracker TEXT NOT NULL, marker TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (tracker, marker)
    ) WITHOUT ROWID;
    CREATE TABLE trackers (tracker TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE leases (
        name TEXT PRIMARY KEY, holder TEXT NOT NULL, number INTEGER NOT NULL, until INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE breakers (scope TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE paces (scope TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
";

/// 0 for a new file.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "user_version", VERSION)
}

/// Version 1 does not know the target of tickets. Call it inside a transaction.
pub(super) fn upgrade(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "DROP TABLE surveys;
         CREATE TABLE trackers (tracker TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;",
    )?;
    connection.pragma_update(None, "user_version", VERSION)
}
