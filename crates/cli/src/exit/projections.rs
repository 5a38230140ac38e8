//! Failures to make or use a copy of the artifacts, and of sync.

use stepmark_store::commit::CompactError;
use stepmark_sync::{
    configuration::SyncConfigurationError,
    ledger::LedgerError,
    plan::PlanReadError,
    ticket::MarkerError,
    worker::{ApplyError, TrackerOpenError},
};

use super::{Exit, Failure};

failures! {
    CompactError: Io;
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
