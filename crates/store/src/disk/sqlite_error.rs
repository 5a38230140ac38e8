//! An error of the database, without the type of the program that keeps it.

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct SqliteError(pub(crate) rusqlite::Error);
