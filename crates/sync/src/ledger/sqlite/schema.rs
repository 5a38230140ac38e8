//! The tables of the ledger.

use rusqlite::Connection;

/// The version of the tables, in `user_version`. A step for each version before it brings older files up to date.
pub(super) const VERSION: i64 = 2;

/// Keys are texts, so that anybody can look with the `sqlite3` program. Times are milliseconds since 1970. `state` is JSON. A link and
/// an intent exist once for each ticket; no ticket belongs to two artifacts.
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

/// Makes the tables of a new file. To be called inside a transaction.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "user_version", VERSION)
}

/// Brings the tables of version 1 up to date, which did not know in which repository or project tickets are. To be called inside a
/// transaction.
pub(super) fn upgrade(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "DROP TABLE surveys;
         CREATE TABLE trackers (tracker TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;",
    )?;
    connection.pragma_update(None, "user_version", VERSION)
}
