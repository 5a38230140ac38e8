//! A reason why an operation of ASDD was not made.

use std::io;

use super::AsddRecordsError;
use crate::changes::{ChangeError, ConfigureError, UpdateError};
use crate::commit::{CommitError, FolderError};
use crate::history::HistoryError;
use crate::projection::ProjectionError;
use crate::workspace::AppendError;
use stepmark_frontmatter::EditError;
use stepmark_model::{
    artifact::{ProjectPath, ProjectPathError},
    asdd::{AsddRefusal, ManifestError},
};

/// A reason why an operation of ASDD was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AsddError {
    /// The records cannot be read.
    #[error(transparent)]
    Records(#[from] AsddRecordsError),
    /// The operation is refused.
    #[error(transparent)]
    Refused(#[from] AsddRefusal),
    /// There is no such slice.
    #[error("there is no slice `{id}`")]
    NoSlice {
        /// The id that was given.
        id: String,
    },
    /// A slice with this id is there.
    #[error("there is a slice `{id}` already")]
    IdTaken {
        /// The id.
        id: String,
    },
    /// ASDD has begun already.
    #[error("ASDD has begun here already")]
    Begun,
    /// The agent has not read the slice.
    #[error("`{agent}` has not begun with `{slice}`: a proposal rests on what its agent read")]
    NotBegun {
        /// The slice.
        slice: String,
        /// The agent.
        agent: String,
    },
    /// There is no such proposal, or it waits no more.
    #[error("there is no proposal `{id}` that waits")]
    NoProposal {
        /// The id.
        id: String,
    },
    /// Somebody without the role acts.
    #[error("{wanted} is for a {role}, and `{actor}` is none")]
    Role {
        /// The operation.
        wanted: &'static str,
        /// The role.
        role: &'static str,
        /// The actor of the command.
        actor: String,
        /// Those who have the role.
        holders: Vec<String>,
    },
    /// Others change the records again and again.
    #[error("other agents change `{path}` again and again; nothing was changed")]
    Busy {
        /// A file that they change.
        path: ProjectPath,
    },
    /// A manifest cannot be read.
    #[error("cannot read `{place}`")]
    Manifest {
        /// The file.
        place: String,
        /// The problem.
        source: ManifestError,
    },
    /// There is no manifest.
    #[error("there is no manifest of ASDD at `{place}`")]
    NothingToImport {
        /// The place that was looked at.
        place: String,
    },
    /// The local state of the clone cannot be read or written.
    #[error("cannot keep {what} in the local state of the clone")]
    Local {
        /// The thing that was to be kept.
        what: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// A value cannot be written as frontmatter.
    #[error("cannot write `{path}`")]
    Edit {
        /// The file.
        path: ProjectPath,
        /// The problem.
        source: EditError,
    },
    /// History cannot be asked.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The journal cannot be told.
    #[error(transparent)]
    Tell(#[from] AppendError),
    /// The configuration cannot be changed.
    #[error(transparent)]
    Configuration(#[from] ConfigureError),
    /// The records cannot be changed.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The manifest cannot follow. The records are changed.
    #[error(transparent)]
    Files(#[from] ProjectionError),
}

impl From<ProjectPathError> for AsddError {
    fn from(error: ProjectPathError) -> Self {
        Self::Records(error.into())
    }
}

impl From<FolderError> for AsddError {
    fn from(error: FolderError) -> Self {
        Self::Change(CommitError::from(error).into())
    }
}

impl From<UpdateError<Self>> for AsddError {
    fn from(error: UpdateError<Self>) -> Self {
        match error {
            UpdateError::Refused { source, .. } => source,
            UpdateError::Change(error) => error.into(),
        }
    }
}
