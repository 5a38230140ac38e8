//! The files of a database in the cache: in a folder that may have come with the files of the project, so no
//! link is followed.
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

use crate::disk::{local_state::LocalState, local_state::StateFolder, own_file::remove_if_there, root::Root};

const SUFFIXES: [&str; 4] = ["-wal", "-shm", "-journal", ""];
/// Makes the database where there is none.
pub(super) const WRITING: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_CREATE);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DatabaseFiles {
    state: LocalState,
    /// Absolute, without links.
    folder: PathBuf,
    name: &'static str,
}

impl DatabaseFiles {
    /// Those of the database `name`, of which nothing is made. Fails when the folder is a link or another
    /// user's.
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

    /// Opens the database; a link in its place is an error.
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

#[cfg(test)]
mod tests {
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
