//! Which process works: a lock on a file, which the system takes away with the process.
#![expect(clippy::disallowed_methods, reason = "an edge module: a lock is a file beside the ledger")]

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

use crate::ledger::LedgerError;

/// The claims of one ledger.
#[derive(Debug)]
pub(super) struct Claims {
    ledger: PathBuf,
    held: BTreeMap<String, File>,
}

impl Claims {
    /// None yet, beside the ledger at `path`.
    pub(super) fn beside(path: &Path) -> Self {
        Self { ledger: path.to_owned(), held: BTreeMap::new() }
    }

    /// Locks `LEDGER.NAME.lock`. That file is never deleted: whoever waits for a lock on a file that is gone locks nothing.
    pub(super) fn claim(&mut self, name: &str) -> Result<bool, LedgerError> {
        if self.held.contains_key(name) {
            return Ok(true);
        }
        let failed = |source: io::Error| LedgerError::Storage {
            intent: "say that this process works",
            source: Box::new(source),
        };
        let mut path = self.ledger.clone().into_os_string();
        path.push(format!(".{name}.lock"));
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                self.held.insert(name.to_owned(), file);
                Ok(true)
            }
            Err(TryLockError::WouldBlock) => Ok(false),
            // A file system without locks cannot tell; then a lease has to lapse.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(false),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Unlocks it.
    pub(super) fn give_up(&mut self, name: &str) {
        self.held.remove(name);
    }
}
