//! Failures to use history, checkpoints or sessions.

use stepmark_store::checkpoints::{CheckpointError, RestoreError};
use stepmark_store::commit::CompactError;
use stepmark_store::hooks::StageHistoryError;

use super::{Exit, Failure};

failures! {
    CompactError: Io;
    StageHistoryError: Io { Store };
    RestoreError: Io { Store, Change } [ OtherArtifact: Findings, NotProven: Findings ];
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Self {
        match error {
            CheckpointError::Change(error) => error.into(),
            CheckpointError::NoState { ref path, .. } => {
                let help = format!("`stepmark check {path}` shows the place; nothing was written");
                Self::from_error(Exit::Findings, &error).with_help(help)
            }
            CheckpointError::Existing { .. } => Self::from_error(Exit::Findings, &error),
            CheckpointError::Restless { .. } => Self::from_error(Exit::Conflict, &error),
            _ => Self::from_error(Exit::Io, &error),
        }
    }
}
