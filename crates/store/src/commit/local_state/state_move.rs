//! Moving local state from one place to another, one file after the other by renaming.
#![expect(clippy::disallowed_methods, reason = "an edge module: files are moved here")]

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::Path,
    time::Duration,
};

use crate::commit::{
    FsyncPolicy, file::flush_folder, local_state::CloneKey, local_state::names_in, redo::Found, redo::LIMIT,
    redo::RedoRecord, redo::Slot, redo::set_aside,
};
use crate::disk::{
    local_state::LocalState, local_state::StateFolder, own_file, own_file::Access, root::Root,
};

/// A move of local state to where that of `root` stands. What has its name there already stays where it is.
pub(in crate::commit) struct StateMove<'a> {
    pub(in crate::commit) root: &'a Root,
    pub(in crate::commit) from: &'a LocalState,
    pub(in crate::commit) fsync: FsyncPolicy,
}

impl StateMove<'_> {
    /// Makes other processes wait that want to move something to the same place.
    pub(in crate::commit) fn lock(root: &Root) -> io::Result<File> {
        root.state().make(StateFolder::Journal)?;
        root.state().make(StateFolder::Redo)?;
        let lock = own_file::open(&root.state().top(true), "move.lock".as_ref(), Access::ChangeOrMake)?;
        crate::disk::file_lock::exclusive(&lock)?;
        Ok(lock)
    }

    /// Moves all that is worth keeping, and returns the names of files; what is killed in between is done by
    /// the next call.
    pub(in crate::commit) fn run(&self) -> io::Result<Vec<String>> {
        let mut moved = self.folder(StateFolder::Journal, |name| name.contains(".jsonl"))?;
        moved.extend(self.folder(StateFolder::SealedCopies, |name| name.contains(".jsonl"))?);
        moved.extend(self.folder(StateFolder::Leases, |name| name.ends_with(".json"))?);
        moved.extend(self.folder(StateFolder::Projections, |name| name.ends_with(".json"))?);
        moved.extend(self.folder(StateFolder::RedoAside, |_| true)?);
        // The log before the database: a database without its log has lost what was committed last. Beside
        // the database of another work tree it would be carried out there.
        let (from, to) = (self.from.top(true), self.root.state().top(true));
        if fs::symlink_metadata(to.join("sync.db")).is_err() {
            for name in ["sync.db-wal", "sync.db"] {
                moved.extend(self.file(&from, name, &to)?);
            }
        }
        self.redo_records()?;
        Ok(moved)
    }

    /// Moves the files of a folder whose names are `wanted`, and returns these.
    fn folder(&self, folder: StateFolder, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
        let from = self.from.path(folder);
        let mut moved = Vec::new();
        for file in names_in(&from)?.into_iter().filter(|file| wanted(file)) {
            let target = self.root.state().make(folder)?;
            moved.extend(self.file(&from, &file, &target)?);
        }
        Ok(moved)
    }

    /// Moves one file, if it is a regular one and its name is free.
    fn file(&self, from: &Path, name: &str, target: &Path) -> io::Result<Option<String>> {
        let file = match own_file::open(from, name.as_ref(), Access::Read) {
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
                return Ok(None);
            }
            file => file?,
        };
        if fs::symlink_metadata(target.join(name)).is_ok() {
            return Ok(None);
        }
        match fs::rename(from.join(name), target.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                self.copy(file, target, name)?;
                fs::remove_file(from.join(name))?;
            }
            renamed => renamed?,
        }
        flush_folder(target, self.fsync)?;
        Ok(Some(name.to_owned()))
    }

    fn copy(&self, mut file: File, target: &Path, name: &str) -> io::Result<()> {
        let mut staged = tempfile::Builder::new().prefix(".").tempfile_in(target)?;
        io::copy(&mut file, &mut staged)?;
        staged.as_file().sync_all()?;
        staged.persist(target.join(name)).map(drop).map_err(|error| error.error)
    }

    /// Signs the records of commits that were cut off with the key of the new place, so that they are
    /// finished.
    fn redo_records(&self) -> io::Result<()> {
        let key = CloneKey::read(self.from)?;
        let folder = self.from.path(StateFolder::Redo);
        for name in names_in(&folder)? {
            let bytes = match own_file::read(&folder, name.as_ref(), LIMIT) {
                // No record: it stays, and `doctor` names the folder.
                Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::FileTooLarge) => {
                    continue;
                }
                bytes => bytes?,
            };
            match RedoRecord::parse(&bytes, key.as_ref()) {
                Found::Record(record) => {
                    let mut slot = Slot::take(self.root, self.fsync, Duration::ZERO)?;
                    slot.write(&record, self.fsync)?;
                }
                // Those without a signature, too: they may have come in an archive.
                Found::Foreign => set_aside(self.root, &bytes, self.fsync)?,
                Found::Torn => {}
            }
            fs::remove_file(folder.join(name))?;
        }
        Ok(())
    }
}
