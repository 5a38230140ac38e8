//! The error of a change of artifacts.

use crate::checking::CheckError;
use crate::commit::{CommitError, Conflict, PublishError, WriteState, named};
use crate::disk::walk::WalkError;
use crate::gates::GateError;
use crate::history::HistoryError;
use crate::leases::LeaseError;
use crate::workspace::ArtifactError;
use stepmark_frontmatter::EditError;
use stepmark_model::artifact::{ProjectPath, ProjectPathError};
use stepmark_model::journal::{ArtifactKey, EventId};
use stepmark_model::transition::TransitionRefusal;

/// A reason why a change failed; mostly nothing was changed then, and [`ChangeError::write_state`] says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The path names no file of the project.
    #[error(transparent)]
    Path(#[from] ProjectPathError),
    /// It cannot be read.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The command makes no sense for it.
    #[error("`{path}` is left as it is")]
    Refused {
        /// The artifact.
        path: ProjectPath,
        /// The reason.
        source: TransitionRefusal,
    },
    /// The edit cannot be made faithfully.
    #[error("cannot edit `{path}`")]
    Edit {
        /// The artifact.
        path: ProjectPath,
        /// The bytes that were to be edited, to show the place.
        bytes: Vec<u8>,
        /// The reason.
        source: EditError,
    },
    /// The id of a new record is that of another artifact.
    #[error("cannot make `{path}`: `{other}` has its id already, and one id has one history ({key})")]
    IdTaken {
        /// The new record.
        path: ProjectPath,
        /// The identity.
        key: ArtifactKey,
        /// The artifact that has it.
        other: ProjectPath,
    },
    /// The event is about no artifact.
    #[error("event {event} is about no artifact: there is nothing to change")]
    NoArtifact {
        /// The event.
        event: EventId,
    },
    /// The event removed the file, of which history does not keep the body.
    #[error("event {event} removed `{path}`, and history keeps its frontmatter only")]
    Removed {
        /// The event.
        event: EventId,
        /// The artifact.
        path: ProjectPath,
        /// Set where git had its bytes then.
        was_in_git: bool,
    },
    /// The event was taken back, and what it changed was not changed again.
    #[error("event {event} was taken back already, by event {by}")]
    Undone {
        /// The event.
        event: EventId,
        /// The event that took it back.
        by: EventId,
    },
    /// Nobody but the file that is to be removed has its bytes.
    #[error(
        "`{path}` is left as it is: neither the commit that is checked out nor the index of git has these bytes"
    )]
    NotInGit {
        /// The artifact.
        path: ProjectPath,
    },
    /// Work was delegated from the artifact that is to be removed.
    #[error("`{path}` is left as it is: work was delegated from it: {}", named(.children))]
    HasChildren {
        /// The artifact.
        path: ProjectPath,
        /// The artifacts of that work.
        children: Vec<ProjectPath>,
    },
    /// Its change cannot be told, since what history says of it cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// A lease forbids it, or cannot be read.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The artifacts cannot be listed, so nobody knows whether work that was delegated is open.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// The gates of steps that the change takes away cannot be removed.
    #[error("`{path}` is left as it is: a gate that says a step is done would stay behind")]
    GatesNotClosed {
        /// The artifact.
        path: ProjectPath,
        /// The problem.
        source: GateError,
    },
    /// The change is made, but the gates of the artifact are those of before, and closed.
    #[error("`{path}` is changed, but its gates are not up to date: `stepmark project` rebuilds them")]
    GatesNotOpened {
        /// The artifact.
        path: ProjectPath,
        /// The problem.
        source: GateError,
    },
    /// It cannot be found out what is wrong with it.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The file that is to be made is there.
    #[error("`{path}` exists already: name another file")]
    Exists {
        /// The file.
        path: ProjectPath,
    },
    /// It cannot be written.
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
