//! Failures to read a project or an artifact, to show it, and of git to say what changed.

use std::io::ErrorKind;

use stepmark_model::artifact::ProjectPathError;
use stepmark_store::configuration::ConfigurationError;
use stepmark_store::disk::{RelativeError, ResolveError, WalkError};
use stepmark_store::workspace::{ArtifactError, OpenError, WorkflowFileError};
use stepmark_store::{fixing::StagedFixError, git::GitVersionError, repository::ChangedArtifactsError};
use stepmark_view::observation::ObservationError;

use super::{Exit, Failure};
use crate::published_file::PublishFileError;

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        if let OpenError::Git(error) = error {
            return error.into();
        }
        let exit = match &error {
            OpenError::Configuration(ConfigurationError::Given { .. }) => Exit::Usage,
            // A folder that is not there is a mistake of whoever named it.
            OpenError::Root(_) => Exit::Usage,
            _ => Exit::Io,
        };
        let failure = Self::from_error(exit, &error);
        match &error {
            OpenError::Configuration(ConfigurationError::Given { .. }) => failure,
            OpenError::Configuration(ConfigurationError::Invalid { .. }) => {
                failure.with_help("fix that line; nothing was changed")
            }
            OpenError::Configuration(ConfigurationError::StateKey { .. }) => {
                failure.with_help("take the key out of that file; nothing was changed")
            }
            OpenError::Configuration(_) => {
                failure.with_help("correct or remove it: without a configuration the defaults count")
            }
            _ => failure,
        }
    }
}

impl From<RelativeError> for Failure {
    fn from(error: RelativeError) -> Self {
        let failure = Self::from_error(Exit::Usage, &error);
        match &error {
            RelativeError::Unusable { source: ProjectPathError::Empty } => {
                failure.with_help("name a file in it")
            }
            RelativeError::Unusable { source: ProjectPathError::NotUtf8 { .. } } => {
                failure.with_help("rename the file: such a name differs from system to system")
            }
            _ => failure,
        }
    }
}

failures! {
    WalkError: Io;
    GitVersionError: Io [ NoCommit: Usage, NoMergeBase: Usage, NoRepository: Usage ];
    StagedFixError: Io { Change, Git };
    ChangedArtifactsError: Io { Git };
}

impl From<ArtifactError> for Failure {
    fn from(error: ArtifactError) -> Self {
        let exit = match &error {
            ArtifactError::Resolve(error) => resolve_exit(error),
            ArtifactError::Missing { .. } => Exit::Usage,
            _ => Exit::Io,
        };
        let failure = Self::from_error(exit, &error);
        match &error {
            ArtifactError::Missing { .. } => failure.with_help("`stepmark status` lists the artifacts"),
            ArtifactError::Read { source, .. } if source.kind() == ErrorKind::IsADirectory => {
                failure.with_help("name a file in it")
            }
            _ => failure,
        }
    }
}

impl From<ResolveError> for Failure {
    fn from(error: ResolveError) -> Self {
        Self::from_error(resolve_exit(&error), &error)
    }
}

impl From<WorkflowFileError> for Failure {
    fn from(error: WorkflowFileError) -> Self {
        ArtifactError::from(error).into()
    }
}

impl From<Box<ArtifactError>> for Failure {
    fn from(error: Box<ArtifactError>) -> Self {
        (*error).into()
    }
}

pub(super) const fn resolve_exit(error: &ResolveError) -> Exit {
    match error {
        ResolveError::Unreachable { .. } => Exit::Io,
        _ => Exit::Usage,
    }
}

failures! {
    ObservationError: Io { Artifacts, Check, History };
}

impl From<PublishFileError> for Failure {
    fn from(error: PublishFileError) -> Self {
        match &error {
            PublishFileError::NoFile { .. } => Self::from_error(Exit::Usage, &error),
            PublishFileError::Foreign { .. } => Self::from_error(Exit::Usage, &error).with_help(
                "name another file; only an older one of this command, or an empty file, is replaced",
            ),
            PublishFileError::GitFolder { .. } => {
                Self::from_error(Exit::Usage, &error).with_help("name a file elsewhere")
            }
            PublishFileError::Write { .. } => {
                Self::from_error(Exit::Io, &error).with_help("its folder must take files")
            }
        }
    }
}
