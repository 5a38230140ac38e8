//! The error of a change of artifacts.

use crate::checking::CheckError;
use crate::commit::{CommitError, Conflict, PublishError, WriteState, named};
use crate::workspace::ArtifactError;
use crate::{disk::walk::WalkError, gates::GateError, history::HistoryError, leases::LeaseError};
use stepmark_frontmatter::EditError;
use stepmark_model::artifact::{ProjectPath, ProjectPathError};
use stepmark_model::journal::{ArtifactKey, EventId};
use stepmark_model::transition::TransitionRefusal;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    #[error(transparent)]
    Path(#[from] ProjectPathError),
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    #[error("`{path}` is left as it is")]
    Refused { path: ProjectPath, source: TransitionRefusal },
    #[error("cannot edit `{path}`")]
    Edit { path: ProjectPath, bytes: Vec<u8>, source: EditError },
    #[error("cannot make `{path}`: `{other}` has its id already, and one id has one history ({key})")]
    IdTaken { path: ProjectPath, key: ArtifactKey, other: ProjectPath },
    #[error("event {event} is about no artifact: there is nothing to change")]
    NoArtifact { event: EventId },
    #[error("event {event} removed `{path}`, and history keeps its frontmatter only")]
    Removed {
        event: EventId,
        path: ProjectPath,
        /// Set where git had its bytes then.
        was_in_git: bool,
    },
    #[error("event {event} was taken back already, by event {by}")]
    Undone { event: EventId, by: EventId },
    #[error(
        "`{path}` is left as it is: neither the commit that is checked out nor the index of git has these bytes"
    )]
    NotInGit { path: ProjectPath },
    #[error("`{path}` is left as it is: work was delegated from it: {}", named(.children))]
    HasChildren { path: ProjectPath, children: Vec<ProjectPath> },
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error(transparent)]
    Lease(#[from] LeaseError),
    #[error(transparent)]
    Walk(#[from] WalkError),
    #[error("`{path}` is left as it is: a gate that says a step is done would stay behind")]
    GatesNotClosed { path: ProjectPath, source: GateError },
    #[error("`{path}` is changed, but its gates are not up to date: `stepmark project` rebuilds them")]
    GatesNotOpened { path: ProjectPath, source: GateError },
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error("`{path}` is left as it is: {reason}")]
    Left { path: ProjectPath, reason: String },
    #[error("`{path}` exists already: name another file")]
    Exists { path: ProjectPath },
    #[error(transparent)]
    Commit(CommitError),
}

impl From<CommitError> for ChangeError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Missing { path } => ArtifactError::Missing { path }.into(),
            error => Self::Commit(error),
        }
    }
}

impl ChangeError {
    /// Returns whether the files are changed in spite of the error.
    pub const fn write_state(&self) -> WriteState {
        match self {
            Self::GatesNotOpened { .. } => WriteState::Written,
            Self::Commit(error) => error.write_state(),
            _ => WriteState::NotWritten,
        }
    }

    /// Returns whether another program's writing kept this change from being made: trying again later helps.
    pub const fn is_conflict(&self) -> bool {
        matches!(
            self,
            Self::Commit(
                CommitError::Publish(PublishError::Conflict(_) | PublishError::Busy { .. })
                    | CommitError::OutdatedAnswers { .. }
            )
        )
    }

    /// The conflict, where another program changed the file meanwhile.
    pub fn conflict(&self) -> Option<&Conflict> {
        match self {
            Self::Commit(CommitError::Publish(PublishError::Conflict(conflict))) => Some(conflict),
            _ => None,
        }
    }
}

/// The error of [`Workspace::update`](crate::workspace::Workspace::update), where the caller decides with
/// errors of its own type `E`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError<E> {
    #[error("`{path}` is left as it is")]
    Refused { path: ProjectPath, source: E },
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
