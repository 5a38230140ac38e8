//! Failures to use history, checkpoints or sessions.

use stepmark_model::journal::ReplayError;
use stepmark_store::checkpoints::{CheckpointError, CheckpointListError, CheckpointReadError, RestoreError};
use stepmark_store::workspace::AppendError;
use stepmark_store::{
    commit::CompactError, disk::LocalStateError, doctor::DoctorError, history::HistoryError,
};
use stepmark_store::{hooks::StageHistoryError, replay::ReplayArtifactsError, resuming::ChoiceError};

use super::{Exit, Failure};

failures! {
    CompactError: Io;
    LocalStateError: Io;
    ReplayArtifactsError: Io { History, Walk, Artifact };
    AppendError: Io { Interrupted, History };
    StageHistoryError: Io { History, Seal, Git };
    CheckpointListError: Io { Artifact };
    RestoreError: Io { Checkpoint, Change } [ OtherArtifact: Findings, NotProven: Findings ];
    ChoiceError: Io { Walk, Artifact, History };
    DoctorError: Io { Commit, History, Fix, Walk, Replay };
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        let exit = match &error {
            HistoryError::UnknownEvent { .. }
            | HistoryError::AmbiguousEvent { .. }
            | HistoryError::NoEventId { .. }
            | HistoryError::UnknownSession { .. } => Exit::Usage,
            // No state, or an untrusted one.
            HistoryError::Replay { source: ReplayError::NoState { .. }, .. } => Exit::Findings,
            _ => Exit::Io,
        };
        Self::from_error(exit, &error)
    }
}

impl From<CheckpointReadError> for Failure {
    fn from(error: CheckpointReadError) -> Self {
        match error {
            CheckpointReadError::Read(error) => {
                let failure = Self::from(error);
                failure.with_help("`stepmark checkpoint list ARTIFACT` shows the checkpoints")
            }
            _ => Self::from_error(Exit::Findings, &error)
                .with_help("take it back from git, or use another one"),
        }
    }
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
