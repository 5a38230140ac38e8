//! An error of the database, without the type of the program that keeps it.

/// An error of SQLite.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct SqliteError(pub(crate) rusqlite::Error);
