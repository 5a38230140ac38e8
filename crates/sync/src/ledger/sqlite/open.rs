//! Opening the file of the ledger.
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

/// The name of the ledger's file in [`StateFolder::Sync`](stepmark_store::disk::StateFolder::Sync).
pub const LEDGER_FILE: &str = "sync.db";

/// The time to wait for another process's transaction: a short one, since no request is made inside one.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

const SWITCH_PAUSE: Duration = Duration::from_millis(2);

/// A ledger in a file of SQLite: WAL, so that readers never wait; FULL, so that what is committed survives a
/// power cut. The file must lie on a local disk.
#[derive(Debug)]
pub struct SqliteLedger {
    pub(super) connection: Connection,
    /// None in memory.
    pub(super) holder_locks: Option<HolderLocks>,
}

impl SqliteLedger {
    /// Opens the ledger at `path`, which is made where it does not exist, with its folder.
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

    /// Opens the ledger at `path` for looking only; `None` where there is none.
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
            // Somebody is making it at this moment.
            0 => Ok(None),
            1 => Self::open(path).map(Some),
            found => Self::of(connection, path, found).map(Some),
        }
    }

    /// The ledger at `path` for looking only; an empty one where there is none.
    pub fn open_to_look(path: &Path) -> Result<Self> {
        Self::open_existing(path)?.map_or_else(Self::in_memory, Ok)
    }

    /// A ledger that nothing survives: for a look at what would happen.
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

    /// Sets how long a transaction waits for that of another process; 10 s at first.
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

/// Takes back what a process that died has begun, as when it made the file: a connection that only reads may
/// not (`SQLITE_READONLY_ROLLBACK`).
fn roll_back(path: &Path) -> Result<()> {
    let connection = open_for(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    version(&connection).map(drop).map_err(failed("take back what was not finished"))
}

fn open_for(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let connection = open_with(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failed("set its timeout"))?;
    Ok(connection)
}

/// Opens the file at `path`, but nothing that a link in its place leads to: such a link may have come with a
/// clone, and what it leads to may be anybody's database.
fn open_with(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let refused = |error: io::Error| storage("open its file", error);
    if path.is_symlink() {
        let reason =
            format!("`{}` is a link, and what it leads to is left alone: delete the link", path.display());
        return Err(refused(io::Error::other(reason)));
    }
    // SQLite refuses links in folders, too, when it is told to follow none.
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let place = fs::canonicalize(folder).map_err(refused)?.join(path.file_name().unwrap_or_default());
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    Connection::open_with_flags(place, flags).map_err(failed("open its file"))
}

/// Switches the file to WAL. `memory` and network files have none, and do without.
///
/// Of several that switch a new file at once, SQLite tells all but one at once that it is busy, without the
/// patience that `busy_timeout` gives everything else (a lock is not waited for while holding another): so
/// they try again.
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

/// The version of the tables, in `user_version`. A step for each earlier one brings older files up to date.
pub(super) const VERSION: i64 = 2;

/// Keys are texts, so that anybody can look with the `sqlite3` program. Times are milliseconds since 1970.
/// `state` is JSON. A link and an intent exist once for each ticket; no ticket belongs to two artifacts.
/// `source` is of earlier programs, which go on reading it.
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

/// The version of the tables in the file; 0 for a new one.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "user_version", VERSION)
}

/// Brings tables of version 1, which do not know the target of tickets, up to date; inside a transaction.
pub(super) fn upgrade(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "DROP TABLE surveys;
         CREATE TABLE trackers (tracker TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;",
    )?;
    connection.pragma_update(None, "user_version", VERSION)
}
