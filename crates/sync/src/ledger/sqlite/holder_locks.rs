//! File locks that show that the holder of a lease lives: the system releases them with the process.
#![expect(clippy::disallowed_methods, reason = "an edge module: a lock is a file beside the ledger")]

use super::storage;
use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

use crate::{Error, Result};
use stepmark_store::disk::file_lock;

/// For each lease name its number and the locked file. If a lease was not given back, the file stays, so that
/// others see that nobody locks it any more.
#[derive(Debug)]
pub(super) struct HolderLocks {
    ledger: PathBuf,
    held: BTreeMap<String, (u64, File)>,
}

impl HolderLocks {
    pub(super) fn beside(path: &Path) -> Self {
        Self { ledger: path.to_owned(), held: BTreeMap::new() }
    }

    /// `LEDGER.NAME.NUMBER.lock`. Numbers only grow, so no file is ever meant by two leases.
    fn file(&self, name: &str, number: u64) -> PathBuf {
        let mut path = self.ledger.clone().into_os_string();
        path.push(format!(".{name}.{number}.lock"));
        path.into()
    }

    /// `false` if another process has locked it.
    pub(super) fn give(&mut self, name: &str, number: u64) -> Result<bool> {
        if self.held.get(name).is_some_and(|(own, _)| *own == number) {
            return Ok(true);
        }
        self.end(name)?;
        let path = self.file(name, number);
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        let is_locked = match file_lock::try_exclusive(&file) {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            // Without locks no process is taken for dead: leases have to lapse.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        };
        if is_locked {
            self.held.insert(name.to_owned(), (number, file));
        }
        Ok(is_locked)
    }

    /// Also removes the file of a dead predecessor.
    pub(super) fn end(&mut self, name: &str) -> Result<()> {
        let Some((number, file)) = self.held.remove(name) else { return Ok(()) };
        let removed = remove(&self.file(name, number));
        drop(file);
        removed.and(remove(&self.file(name, number.saturating_sub(1))))
    }

    /// Nobody has the lock. Without a file nothing is known.
    pub(super) fn is_dead(&self, name: &str, number: u64) -> Result<bool> {
        if self.held.get(name).is_some_and(|(own, _)| *own == number) {
            return Ok(false);
        }
        let path = self.file(name, number);
        let file = match OpenOptions::new().append(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(failed(error)),
        };
        match file_lock::try_exclusive(&file) {
            Ok(()) => file.unlock().map(|()| true).map_err(failed),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(false),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(()),
    }
}

fn failed(source: io::Error) -> Error {
    storage("tell whether the holder of a lease lives", source)
}
