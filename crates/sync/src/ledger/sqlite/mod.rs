//! The ledger as a file of SQLite.

mod open;
mod holder_locks;
mod read;
#[cfg(test)]
mod cases;

use crate::Result;
use rusqlite::TransactionBehavior;

use self::read::{SqliteTransaction, failed, storage};
use super::{Ledger, LedgerReader, LedgerWriter};

pub use open::{LEDGER_FILE, SqliteLedger};

impl SqliteLedger {
    fn begin(&mut self, behavior: TransactionBehavior) -> Result<SqliteTransaction<'_>> {
        let inner = self.connection.transaction_with_behavior(behavior).map_err(failed("begin"))?;
        Ok(SqliteTransaction { inner })
    }
}

impl Ledger for SqliteLedger {
    fn read(&mut self) -> Result<Box<dyn LedgerReader + '_>> {
        Ok(Box::new(self.begin(TransactionBehavior::Deferred)?))
    }

    fn write(&mut self) -> Result<Box<dyn LedgerWriter + '_>> {
        // Immediate: a transaction that reads first could be refused at its first write.
        Ok(Box::new(self.begin(TransactionBehavior::Immediate)?))
    }

    fn mark_alive(&mut self, name: &str, number: u64) -> Result<bool> {
        self.holder_locks.as_mut().map_or(Ok(true), |locks| locks.give(name, number))
    }

    fn unmark_alive(&mut self, name: &str) -> Result<()> {
        self.holder_locks.as_mut().map_or(Ok(()), |locks| locks.end(name))
    }

    fn is_holder_dead(&mut self, name: &str, number: u64) -> Result<bool> {
        self.holder_locks.as_ref().map_or(Ok(false), |locks| locks.is_dead(name, number))
    }
}
