//! The error of an update that was not made, by the caller's decision or by what the library found.

use crate::changes::ChangeError;
use crate::commit::{CommitError, Conflict, WriteState};
use stepmark_model::{artifact::ProjectPath, transition::TransitionRefusal};

/// The error of [`Workspace::update`](crate::workspace::Workspace::update), where the caller decides with
/// errors of its own type `E`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError<E> {
    /// The caller refused.
    #[error("`{path}` is left as it is")]
    Refused {
        /// The artifact.
        path: ProjectPath,
        /// The error of the caller.
        source: E,
    },
    /// The library refused, or failed.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl<E> UpdateError<E> {
    /// Returns whether the file is changed in spite of the error.
    pub const fn write_state(&self) -> WriteState {
        match self {
            Self::Refused { .. } => WriteState::NotWritten,
            Self::Change(error) => error.write_state(),
        }
    }

    /// Returns whether another program's writing kept this change from being made: trying again later helps.
    pub const fn is_conflict(&self) -> bool {
        matches!(self, Self::Change(error) if error.is_conflict())
    }

    /// The conflict, where another program changed the file meanwhile.
    pub fn conflict(&self) -> Option<&Conflict> {
        match self {
            Self::Change(error) => error.conflict(),
            Self::Refused { .. } => None,
        }
    }
}

impl From<UpdateError<TransitionRefusal>> for ChangeError {
    fn from(error: UpdateError<TransitionRefusal>) -> Self {
        match error {
            UpdateError::Refused { path, source } => Self::Refused { path, source },
            UpdateError::Change(error) => error,
        }
    }
}

impl<E> From<CommitError> for UpdateError<E> {
    fn from(error: CommitError) -> Self {
        Self::Change(error.into())
    }
}
