//! Reasons why the database is not brought up to date.

use std::io;

use crate::checking::CheckError;
use crate::disk::WalkError;
use crate::history::HistoryError;
use crate::index_db::{IndexError, QueryError};

/// A reason why the database is not brought up to date. What cannot be read of single artifacts is no error:
/// the table `unreadable` tells it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RefreshError {
    /// The project cannot be listed.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// The project cannot be checked.
    #[error(transparent)]
    Check(#[from] Box<CheckError>),
    /// The journal cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// A catalogue, or the folder of the leases, cannot be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The path, seen from the project root.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The database cannot be made.
    #[error(transparent)]
    Index(#[from] IndexError),
}

/// A reason why a query about the project is not answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The database cannot be brought up to date.
    #[error(transparent)]
    Refresh(#[from] RefreshError),
    /// The query has no answer.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// There is nothing to be asked as it is.
    #[error("there is no database of this version in `.stepmark/local/cache/`")]
    NotThere,
}

/// The failure that stops a refresh.
#[derive(Debug)]
pub(super) enum Fault {
    /// The database fails; another one may not.
    Database(rusqlite::Error),
    /// The project cannot be read.
    Failed(RefreshError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<RefreshError> for Fault {
    fn from(error: RefreshError) -> Self {
        Self::Failed(error)
    }
}

impl From<WalkError> for Fault {
    fn from(error: WalkError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<CheckError> for Fault {
    fn from(error: CheckError) -> Self {
        Self::Failed(Box::new(error).into())
    }
}

impl From<HistoryError> for Fault {
    fn from(error: HistoryError) -> Self {
        Self::Failed(error.into())
    }
}
