//! What SQLite says, in the ledger's words.

use rusqlite::ErrorCode;

use crate::ledger::LedgerError;

/// Turns what SQLite says when the ledger was to do `intent`.
pub(super) fn failed(intent: &'static str) -> impl Fn(rusqlite::Error) -> LedgerError {
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LedgerError::Busy,
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            LedgerError::Corrupt { what: "file", reason: error.to_string() }
        }
        _ => LedgerError::Storage { intent, source: Box::new(error) },
    }
}

/// Turns what a value of the ledger is not.
pub(super) fn corrupt<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> LedgerError {
    move |error| LedgerError::Corrupt { what, reason: error.to_string() }
}
