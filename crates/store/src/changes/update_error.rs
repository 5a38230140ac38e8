//! The error of an update that was not made, by the caller's decision or by what the library found.

use std::{convert::Infallible, error::Error, fmt};

use crate::changes::ChangeError;
use crate::commit::{self, CommitError, Conflict, WriteState};
use crate::workspace::ArtifactError;
use stepmark_model::{artifact::ProjectPath, transition::TransitionRefusal};

/// The error of [`Workspace::update`](crate::workspace::Workspace::update), where the caller decides with errors of its own type `E`.
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
    pub(crate) fn of(path: &ProjectPath, error: Undecided<E>) -> Self {
        match error {
            Undecided::Caller(source) => Self::Refused { path: path.clone(), source },
            Undecided::Library(error) => Self::Change(error),
        }
    }

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

/// A reason that ends a decision within a commit. The caller's type need not be an error there: `anyhow` and boxes are none.
pub(crate) enum Undecided<E = Infallible> {
    /// The caller refused.
    Caller(E),
    /// The library did.
    Library(ChangeError),
}

impl<E> Undecided<E> {
    /// The reason that ended a commit.
    pub(crate) fn of_commit(error: commit::UpdateError<Self>) -> Self
    where
        E: 'static,
    {
        match error {
            commit::UpdateError::Decide(error) => error,
            commit::UpdateError::Commit(CommitError::Missing { path }) => {
                ChangeError::from(ArtifactError::Missing { path }).into()
            }
            commit::UpdateError::Commit(error) => ChangeError::from(error).into(),
        }
    }
}

impl<E> From<ChangeError> for Undecided<E> {
    fn from(error: ChangeError) -> Self {
        Self::Library(error)
    }
}

impl From<Undecided> for ChangeError {
    fn from(error: Undecided) -> Self {
        match error {
            Undecided::Caller(never) => match never {},
            Undecided::Library(error) => error,
        }
    }
}

impl<E> fmt::Debug for Undecided<E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caller(_) => out.write_str("Caller"),
            Self::Library(error) => fmt::Debug::fmt(error, out),
        }
    }
}

impl<E> fmt::Display for Undecided<E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caller(_) => out.write_str("the caller refused"),
            Self::Library(error) => error.fmt(out),
        }
    }
}

impl<E> Error for Undecided<E> {}
