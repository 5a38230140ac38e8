//! Failures of git to say what changed.

use stepmark_store::checking::StagedFixError;
use stepmark_store::git::GitVersionError;
use stepmark_store::repository::ChangedArtifactsError;

use super::{Exit, Failure};

impl From<GitVersionError> for Failure {
    fn from(error: GitVersionError) -> Self {
        let exit = match &error {
            GitVersionError::NoCommit { .. }
            | GitVersionError::NoMergeBase { .. }
            | GitVersionError::NoRepository { .. } => Exit::Usage,
            _ => Exit::Io,
        };
        Self::from_error(exit, &error)
    }
}

impl From<StagedFixError> for Failure {
    fn from(error: StagedFixError) -> Self {
        match error {
            StagedFixError::Change(error) => error.into(),
            StagedFixError::Git(error) => error.into(),
            StagedFixError::NotStaged { .. } => Self::from_error(Exit::Io, &error),
        }
    }
}

impl From<ChangedArtifactsError> for Failure {
    fn from(error: ChangedArtifactsError) -> Self {
        match error {
            ChangedArtifactsError::Git(error) => error.into(),
            ChangedArtifactsError::Workflow(error) => Self::from_error(Exit::Io, &error),
        }
    }
}
