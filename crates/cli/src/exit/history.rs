//! Failures to use history, checkpoints or sessions.

use stepmark_model::journal::ReplayError;
use stepmark_store::changes::ChangeError;
use stepmark_store::checkpoints::{
    CheckpointError, CheckpointPlacesError, CheckpointReadError, RestoreError,
};
use stepmark_store::commit::CompactError;
use stepmark_store::disk::LocalStateError;
use stepmark_store::doctor::DoctorError;
use stepmark_store::history::HistoryError;
use stepmark_store::hooks::StageHistoryError;
use stepmark_store::replay::ReplayArtifactsError;
use stepmark_store::resuming::ChoiceError;
use stepmark_store::workspace::AppendError;

use super::{Exit, Failure};

impl From<CompactError> for Failure {
    fn from(error: CompactError) -> Self {
        Self::from_error(Exit::Io, &error)
    }
}

impl From<LocalStateError> for Failure {
    fn from(error: LocalStateError) -> Self {
        Self::from_error(Exit::Io, &error)
    }
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        let exit = match &error {
            HistoryError::UnknownEvent { .. }
            | HistoryError::AmbiguousEvent { .. }
            | HistoryError::NoEventId { .. }
            | HistoryError::UnknownSession { .. } => Exit::Usage,
            // There is no state to show, or none that can be trusted.
            HistoryError::Replay { source: ReplayError::NoState { .. }, .. } => Exit::Findings,
            _ => Exit::Io,
        };
        Self::from_error(exit, &error)
    }
}

impl From<ReplayArtifactsError> for Failure {
    fn from(error: ReplayArtifactsError) -> Self {
        match error {
            ReplayArtifactsError::History(error) => error.into(),
            ReplayArtifactsError::Walk(error) => error.into(),
            ReplayArtifactsError::Artifact(error) => error.into(),
            _ => Self::from_error(Exit::Io, &error),
        }
    }
}

impl From<AppendError> for Failure {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::Interrupted(error) => ChangeError::Commit(error).into(),
            AppendError::History(error) => error.into(),
            _ => Self::from_error(Exit::Io, &error),
        }
    }
}

impl From<StageHistoryError> for Failure {
    fn from(error: StageHistoryError) -> Self {
        match error {
            StageHistoryError::History(error) => error.into(),
            StageHistoryError::Seal(error) => error.into(),
            StageHistoryError::Git(error) => error.into(),
            error => Self::from_error(Exit::Io, &error),
        }
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

impl From<CheckpointPlacesError> for Failure {
    fn from(error: CheckpointPlacesError) -> Self {
        match error {
            CheckpointPlacesError::Artifact(error) => error.into(),
            _ => Self::from_error(Exit::Io, &error),
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

impl From<RestoreError> for Failure {
    fn from(error: RestoreError) -> Self {
        match error {
            RestoreError::Checkpoint(error) => error.into(),
            RestoreError::Change(error) => error.into(),
            RestoreError::OtherArtifact { .. } | RestoreError::NotProven { .. } => {
                Self::from_error(Exit::Findings, &error)
            }
            _ => Self::from_error(Exit::Io, &error),
        }
    }
}

impl From<ChoiceError> for Failure {
    fn from(error: ChoiceError) -> Self {
        match error {
            ChoiceError::Walk(error) => error.into(),
            ChoiceError::Artifact(error) => error.into(),
            ChoiceError::History(error) => error.into(),
            _ => Self::from_error(Exit::Io, &error),
        }
    }
}

impl From<DoctorError> for Failure {
    fn from(error: DoctorError) -> Self {
        match error {
            DoctorError::Commit(error) => ChangeError::Commit(error).into(),
            DoctorError::History(error) => error.into(),
            DoctorError::Fix(error) => error.into(),
            DoctorError::Walk(error) => error.into(),
            DoctorError::Replay(error) => error.into(),
            _ => Self::from_error(Exit::Io, &error),
        }
    }
}
