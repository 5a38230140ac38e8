//! The files of a database in the cache, the folder of everything disposable.
//!
//! Without git the folder stands among the files of the project, and may have come with them. A link that stands in the place of one of these files is taken away,
//! never followed: what it leads to may be anybody's, and these databases are emptied at will.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge module: files of the cache are made and deleted here"
)]

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OpenFlags};

use crate::disk::{local_state::LocalState, local_state::StateFolder, root::Root};

/// What SQLite puts behind the name of a database. The log first: a database without its log is whole, the log of another one
/// would be poison.
const SUFFIXES: [&str; 4] = ["-wal", "-shm", "-journal", ""];

/// The files of one database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DatabaseFiles {
    state: LocalState,
    /// Absolute, without links.
    folder: PathBuf,
    name: &'static str,
}

impl DatabaseFiles {
    /// Those of the database `name`. Nothing is made.
    ///
    /// # Errors
    /// When the folder is a link or another user's, or cannot be reached.
    pub(crate) fn of(root: &Root, name: &'static str) -> io::Result<Self> {
        let state = root.state().clone();
        Ok(Self { folder: state.folder(StateFolder::Cache)?, state, name })
    }

    /// Makes the folder where it is missing, and opens the file that locks the database.
    ///
    /// # Errors
    /// When one of them cannot be made.
    pub(crate) fn open_lock(&self) -> io::Result<File> {
        self.state.make(StateFolder::Cache)?;
        let lock = self.place(".lock");
        remove_link(&lock)?;
        without_following().create(true).truncate(false).write(true).open(lock)
    }

    /// Takes away links in the place of the database. To be called under the lock.
    ///
    /// # Errors
    /// When a link cannot be taken away.
    pub(crate) fn remove_links(&self) -> io::Result<()> {
        SUFFIXES.iter().try_for_each(|suffix| remove_link(&self.place(suffix)))
    }

    /// Opens the database, which is made, empty, where there is none. To be called under the lock.
    ///
    /// # Errors
    /// When it cannot be made or opened, or is a link.
    pub(crate) fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        self.open_with(flags)
    }

    /// Opens the database that is there, for reading only.
    ///
    /// # Errors
    /// When there is none, or a link in its place.
    pub(crate) fn open_to_read(&self) -> rusqlite::Result<Connection> {
        self.open_with(OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    fn open_with(&self, flags: OpenFlags) -> rusqlite::Result<Connection> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        Connection::open_with_flags(self.place(""), flags)
    }

    /// Deletes the database. To be called under the lock.
    ///
    /// # Errors
    /// When a file cannot be deleted.
    pub(crate) fn delete(&self) -> io::Result<()> {
        SUFFIXES.iter().try_for_each(|suffix| remove(&self.place(suffix)))
    }

    /// Whether the log has more bytes than `limit`.
    pub(crate) fn has_log_longer_than(&self, limit: u64) -> bool {
        fs::symlink_metadata(self.place("-wal")).is_ok_and(|log| log.len() > limit)
    }

    fn place(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}{suffix}", self.name))
    }
}

/// Takes away the link at `place`, if there is one, and leaves alone what it leads to.
fn remove_link(place: &Path) -> io::Result<()> {
    if fs::symlink_metadata(place).is_ok_and(|found| found.is_symlink()) { remove(place) } else { Ok(()) }
}

fn remove(place: &Path) -> io::Result<()> {
    match fs::remove_file(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Opens a file, and nothing that a link leads to.
#[cfg(unix)]
fn without_following() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;

    let mut options = OpenOptions::new();
    options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    options
}

/// Elsewhere git makes no links unless it is told to.
#[cfg(not(unix))]
fn without_following() -> OpenOptions {
    OpenOptions::new()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn project() -> (tempfile::TempDir, DatabaseFiles) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("project/.stepmark/local/cache")).unwrap();
        let root = Root::open(folder.path().join("project")).unwrap();
        (folder, DatabaseFiles::of(&root, "x.db").unwrap())
    }

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
            let _lock = files.open_lock().unwrap();
            assert!(files.open().is_err(), "SQLite follows none either");
            files.remove_links().unwrap();
            let connection = files.open().unwrap();
            connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE x (y)").unwrap();
            let read = files.open_to_read().unwrap();
            assert_eq!(read.query_row("SELECT COUNT(*) FROM x", [], |row| row.get(0)), Ok(0));
            for (number, name) in names.iter().enumerate() {
                let found = fs::read(outside.path().join(number.to_string()));
                assert_eq!(found.ok(), is_there.then(Vec::new), "{name}");
            }
        }
    }

    #[test]
    fn a_link_is_no_database_to_be_read() {
        let (outside, files) = project();
        let target = outside.path().join("other.db");
        Connection::open(&target).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
        symlink(&target, files.place("")).unwrap();
        assert!(files.open_to_read().is_err());
        files.delete().unwrap();
        assert!(target.exists() && !files.place("").is_symlink());
    }
}
