//! Failures to make or use a copy of the artifacts, and of sync.

use stepmark_store::checking::BaselineWriteError;
use stepmark_store::instructions::InstructionError;
use stepmark_store::manifest::ManifestPublishError;
use stepmark_store::{changes::ChangeError, projection::ProjectionError};

use stepmark_sync::{
    configuration::SyncConfigurationError,
    ledger::LedgerError,
    plan::PlanReadError,
    ticket::MarkerError,
    worker::{ApplyError, TrackerOpenError},
};

use super::{Exit, Failure};

impl From<InstructionError> for Failure {
    fn from(error: InstructionError) -> Self {
        match error {
            InstructionError::Store(error) => error.into(),
            InstructionError::OwnComponent { .. } => Self::from_error(Exit::Findings, &error)
                .with_help("name another output in `.stepmark/config.yaml`"),
            InstructionError::Projection(error) => of_projection(
                error,
                "move it away, or name another `instructions.output` in `.stepmark/config.yaml`",
            ),
            InstructionError::Component { .. } => Self::from_error(Exit::Io, &error)
                .with_help("correct `instructions.components` in `.stepmark/config.yaml`, or the file"),
            _ => Self::from_error(Exit::Io, &error),
        }
    }
}

/// A projection was not written; `remedy` says what helps where the file of somebody else is in its place.
fn of_projection(error: ProjectionError, remedy: &str) -> Failure {
    match error {
        ProjectionError::Commit(error) => ChangeError::Commit(error).into(),
        ProjectionError::Foreign { .. } => Failure::from_error(Exit::Findings, &error).with_help(remedy),
        ProjectionError::ManyEdited { ref path } => Failure::from_error(Exit::Findings, &error).with_help(format!(
            "look at `{path}.edited`, `{path}.edited-2`, …, move what is to stay into a component, and remove them"
        )),
        _ => Failure::from_error(Exit::Io, &error),
    }
}

failures! {
    BaselineWriteError: Io { Store, Commit };
}

impl From<ProjectionError> for Failure {
    fn from(error: ProjectionError) -> Self {
        of_projection(error, "move the file away, or give the file of the pack another name")
    }
}

impl From<ManifestPublishError> for Failure {
    fn from(error: ManifestPublishError) -> Self {
        match error {
            ManifestPublishError::Store(error) => error.into(),
            ManifestPublishError::Projection(error) => {
                of_projection(error, "name another file with --file, or move this one away")
            }
        }
    }
}

failures! {
    SyncConfigurationError: Io;
    LedgerError: Io [ Busy: Conflict, Fenced: Conflict ];
    PlanReadError: Usage;
    MarkerError: Findings;
}

impl From<ApplyError> for Failure {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::LeaseHeld(error) => Self::from_error(Exit::Conflict, &error),
            ApplyError::Ledger(error) => error.into(),
        }
    }
}

impl From<TrackerOpenError> for Failure {
    fn from(error: TrackerOpenError) -> Self {
        let failure = Self::from_error(Exit::Remote, &error);
        match error {
            TrackerOpenError::NotAllowed { destination, .. } => failure.with_help(format!(
                "to allow it, run `stepmark sync allow {destination}`, or add `{}` to `targets` of that host in your own configuration",
                destination.target()
            )),
            _ => failure,
        }
    }
}
