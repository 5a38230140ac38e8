//! Failures of copies of artifacts, and of sync.

use stepmark_store::checking::{BaselineWriteError, CheckError};
use stepmark_store::manifest::{
    ManifestPlaceError, ManifestPublishError, ManifestReadError, ManifestWriteError,
};
use stepmark_store::{changes::ChangeError, projection::ProjectionError};
use stepmark_store::{
    gates::GateError, hooks::HookError, index::RefreshError, instructions::InstructionError,
};

use stepmark_sync::ErrorKind;

use super::{Exit, Failure};

impl From<InstructionError> for Failure {
    fn from(error: InstructionError) -> Self {
        match error {
            InstructionError::Walk(error) => error.into(),
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

/// `remedy` applies if another program's file is in the way.
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

impl From<Box<CheckError>> for Failure {
    fn from(error: Box<CheckError>) -> Self {
        (*error).into()
    }
}

failures! {
    CheckError: Io { Chains, Gates, History, Workflow, Git };
    RefreshError: Io { Walk, Check, History };
    GateError: Io { Resolve, Workflow, Artifact };
    BaselineWriteError: Io { Read, Commit };
    HookError: Io [ NoGit: Findings, NoRepository: Findings, Foreign: Findings ];
    ManifestPlaceError: Io { Outside } [ Installers: Usage ];
    ManifestReadError: Io [ Missing: Usage ];
    ManifestWriteError: Io [ Unlistable: Findings ];
}

impl From<ProjectionError> for Failure {
    fn from(error: ProjectionError) -> Self {
        of_projection(error, "move the file away, or give the file of the pack another name")
    }
}

impl From<ManifestPublishError> for Failure {
    fn from(error: ManifestPublishError) -> Self {
        match error {
            ManifestPublishError::Place(error) => error.into(),
            ManifestPublishError::Projection(error) => {
                of_projection(error, "name another file with --file, or move this one away")
            }
        }
    }
}

impl From<stepmark_sync::Error> for Failure {
    fn from(error: stepmark_sync::Error) -> Self {
        let exit = match error.kind {
            ErrorKind::Refused => Exit::Findings,
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Busy | ErrorKind::Held { .. } | ErrorKind::Fenced => Exit::Conflict,
            ErrorKind::Remote | ErrorKind::NotAllowed { .. } => Exit::Remote,
            _ => Exit::Io,
        };
        Self { help: error.help.clone(), ..Self::from_error(exit, &error) }
    }
}
