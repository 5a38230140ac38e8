//! The database that says where each event stands: on disk where that is possible, else in memory.

use std::cell::RefCell;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::disk::{cache_database::CacheDatabase, root::Root};
use crate::history::{EventReader, HistoryError};

/// An open index.
#[derive(Debug)]
pub(in crate::history) struct Index {
    pub(in crate::history) database: CacheDatabase,
    pub(in crate::history) reader: RefCell<EventReader>,
}

/// A reason why a question to the index has no answer yet.
#[derive(Debug)]
pub(in crate::history) enum Fault {
    /// The database fails; another one may not.
    Database(rusqlite::Error),
    /// A segment is not where, or does not hold what, the index says.
    Stale,
    /// It has no answer.
    Failed(HistoryError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<HistoryError> for Fault {
    fn from(error: HistoryError) -> Self {
        Self::Failed(error)
    }
}

impl Index {
    /// Puts the index of the project at `root` into `database`.
    pub(in crate::history) fn new(database: CacheDatabase, root: &Root) -> Self {
        Self { database, reader: RefCell::new(EventReader::new(root.clone())) }
    }

    /// The database, to be asked.
    pub(in crate::history) const fn connection(&self) -> &Connection {
        &self.database.connection
    }

    /// A transaction that keeps other writers out from its beginning.
    pub(in crate::history) fn write(&self) -> rusqlite::Result<Transaction<'_>> {
        Transaction::new_unchecked(self.connection(), TransactionBehavior::Immediate)
    }
}
