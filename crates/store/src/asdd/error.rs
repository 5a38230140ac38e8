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

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AsddError {
    #[error(transparent)]
    Records(#[from] AsddRecordsError),
    #[error(transparent)]
    Refused(#[from] AsddRefusal),
    #[error("there is no slice `{id}`")]
    NoSlice { id: String },
    #[error("there is a slice `{id}` already")]
    IdTaken { id: String },
    #[error("ASDD has begun here already")]
    Begun,
    #[error("`{agent}` has not begun with `{slice}`: a proposal rests on what its agent read")]
    NotBegun { slice: String, agent: String },
    #[error("there is no proposal `{id}` that waits")]
    NoProposal { id: String },
    #[error("{wanted} is for a {role}, and `{actor}` is none")]
    Role { wanted: &'static str, role: &'static str, actor: String, holders: Vec<String> },
    #[error("other agents change `{path}` again and again; nothing was changed")]
    Busy { path: ProjectPath },
    #[error("cannot read `{place}`")]
    Manifest { place: String, source: ManifestError },
    #[error("there is no manifest of ASDD at `{place}`")]
    NothingToImport { place: String },
    #[error("cannot keep {what} in the local state of the clone")]
    Local {
        /// The thing that was to be kept.
        what: &'static str,
        source: io::Error,
    },
    #[error("cannot write `{path}`")]
    Edit { path: ProjectPath, source: EditError },
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error(transparent)]
    Tell(#[from] AppendError),
    #[error(transparent)]
    Configuration(#[from] ConfigureError),
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
