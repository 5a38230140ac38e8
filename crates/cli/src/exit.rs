//! Exit codes, and every error of the library mapped to one (DESIGN.md, "Errors and exit codes").

use std::{error::Error, io::ErrorKind, process::ExitCode};

use stepmark_core::{
    artifact::{ProjectPath, ProjectPathError},
    commit::{CommitError, CompactError, Found, LockError},
    document::EditError,
    journal::{HistoryError, ReplayError},
    transition::TransitionRefusal,
    workspace::{
        ArtifactError, ChangeError, CheckpointError, CheckpointPlacesError, CheckpointReadError, ChoiceError,
        ConfigurationError, DoctorError, GateError, HookError, InstructionError, LeaseError, OpenError,
        RelativeError, ResolveError, RestoreError, TellError, WalkError,
        manifest::{ManifestPlaceError, ManifestPublishError, ManifestReadError, ManifestWriteError},
    },
};

use crate::output::Excerpt;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Fine = 0,
    /// Findings, or a command that was refused.
    Findings = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// Somebody else changed the file meanwhile.
    Conflict = 3,
    /// A file cannot be read or written, or holds no usable data.
    Io = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What was intended and what is wrong where.
    pub(crate) message: String,
    /// The chain of causes, outermost first.
    pub(crate) causes: Vec<String>,
    /// What to do.
    pub(crate) help: Option<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), causes: Vec::new(), help: None }
    }

    /// An error of the library with its causes.
    pub(crate) fn from_error(exit: Exit, error: &dyn Error) -> Self {
        let mut failure = Self::new(exit, error.to_string());
        failure.causes = causes(error);
        failure
    }

    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The causes of an error, outermost first.
fn causes(error: &dyn Error) -> Vec<String> {
    let mut causes = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    causes
}

/// An error and its causes on one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut parts = vec![error.to_string()];
    parts.extend(causes(error));
    parts.join(": ")
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let exit = match &error {
            OpenError::Configuration(ConfigurationError::Given { .. }) => Exit::Usage,
            OpenError::Root(_) | OpenError::Configuration(_) => Exit::Io,
        };
        let failure = Self::from_error(exit, &error);
        match &error {
            OpenError::Root(_) | OpenError::Configuration(ConfigurationError::Given { .. }) => failure,
            OpenError::Configuration(ConfigurationError::Invalid { .. }) => {
                failure.with_help("mend that line; nothing was changed")
            }
            OpenError::Configuration(ConfigurationError::StateKey { .. }) => {
                failure.with_help("take the key out of that file; nothing was changed")
            }
            OpenError::Configuration(_) => {
                failure.with_help("correct or remove it: without a configuration the defaults count")
            }
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

impl From<WalkError> for Failure {
    fn from(error: WalkError) -> Self {
        Self::from_error(Exit::Io, &error)
    }
}

impl From<ArtifactError> for Failure {
    fn from(error: ArtifactError) -> Self {
        let exit = match &error {
            ArtifactError::Resolve(error) => resolve_exit(error),
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

/// A path that leads out of the project is a mistake of whoever named it.
const fn resolve_exit(error: &ResolveError) -> Exit {
    match error {
        ResolveError::Outside { .. } => Exit::Usage,
        ResolveError::Unreachable { .. } => Exit::Io,
    }
}

impl From<ChangeError> for Failure {
    fn from(error: ChangeError) -> Self {
        if let Some(conflict) = error.conflict() {
            let help = match (&conflict.found, &conflict.kept) {
                (_, Some(kept)) => format!(
                    "their bytes are kept in `{}`; compare, and run the command again",
                    kept.display()
                ),
                (Found::Absent, _) => "the file is gone; nothing was written".to_owned(),
                _ => "their bytes stand; run the command again".to_owned(),
            };
            return Self::from_error(Exit::Conflict, &error).with_help(help);
        }
        if error.is_conflict() {
            return Self::from_error(Exit::Conflict, &error);
        }
        match error {
            ChangeError::Artifact(error) => error.into(),
            ChangeError::Path(error) => Self::from_error(Exit::Usage, &error),
            ChangeError::Refused { path, source } => refusal(&path, &source),
            ChangeError::Edit { path, bytes, source } => edit_failure(&path, &bytes, &source),
            ChangeError::NoArtifact { .. } => Self::from_error(Exit::Usage, &error),
            ChangeError::History(error) => error.into(),
            ChangeError::Lease(error) => error.into(),
            ChangeError::Walk(error) => error.into(),
            ChangeError::Exists { .. } => Self::from_error(Exit::Findings, &error),
            ChangeError::GatesNotClosed { .. } | ChangeError::GatesNotOpened { .. } => {
                Self::from_error(Exit::Io, &error)
            }
            ChangeError::Commit(error) => {
                let exit = match &error {
                    CommitError::Lock(LockError::Resolve(error)) => resolve_exit(error),
                    _ => Exit::Io,
                };
                Self::from_error(exit, &error)
            }
        }
    }
}

impl From<InstructionError> for Failure {
    fn from(error: InstructionError) -> Self {
        match error {
            InstructionError::Commit(error) => ChangeError::Commit(error).into(),
            InstructionError::Walk(error) => error.into(),
            InstructionError::OwnComponent { .. } => Self::from_error(Exit::Findings, &error)
                .with_help("name another output in `.stepmark/config.yaml`"),
            InstructionError::Component { .. } => Self::from_error(Exit::Io, &error)
                .with_help("correct `instructions.components` in `.stepmark/config.yaml`, or the file"),
            InstructionError::NotText(_) | InstructionError::Cached(_) | InstructionError::Path(_) => {
                Self::from_error(Exit::Io, &error)
            }
        }
    }
}

impl From<CompactError> for Failure {
    fn from(error: CompactError) -> Self {
        Self::from_error(Exit::Io, &error)
    }
}

impl From<LeaseError> for Failure {
    fn from(error: LeaseError) -> Self {
        match error {
            LeaseError::Artifact(error) => error.into(),
            LeaseError::Commit(error) => ChangeError::Commit(error).into(),
            LeaseError::Refused { ref source, .. } => {
                Self::from_error(Exit::Conflict, &error).with_help(source.remedy())
            }
            _ => Self::from_error(Exit::Io, &error),
        }
    }
}

impl From<GateError> for Failure {
    fn from(error: GateError) -> Self {
        let exit = match &error {
            GateError::Resolve(error) => resolve_exit(error),
            _ => Exit::Io,
        };
        Self::from_error(exit, &error)
    }
}

impl From<HookError> for Failure {
    fn from(error: HookError) -> Self {
        let exit = match &error {
            HookError::NoGit { .. } | HookError::NoRepository { .. } | HookError::Foreign { .. } => {
                Exit::Findings
            }
            _ => Exit::Io,
        };
        Self::from_error(exit, &error)
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
            HistoryError::Replay { .. }
            | HistoryError::Read { .. }
            | HistoryError::Index { .. }
            | HistoryError::Restless => Exit::Io,
        };
        Self::from_error(exit, &error)
    }
}

impl From<TellError> for Failure {
    fn from(error: TellError) -> Self {
        match error {
            TellError::Interrupted(error) => ChangeError::Commit(error).into(),
            TellError::Write(_) => Self::from_error(Exit::Io, &error),
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
            CheckpointReadError::Problem { .. } => Self::from_error(Exit::Findings, &error)
                .with_help("take it back from git, or use another one"),
        }
    }
}

impl From<CheckpointPlacesError> for Failure {
    fn from(error: CheckpointPlacesError) -> Self {
        match error {
            CheckpointPlacesError::List(_) => Self::from_error(Exit::Io, &error),
            CheckpointPlacesError::Artifact(error) => error.into(),
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
            CheckpointError::Seal { .. } => Self::from_error(Exit::Io, &error),
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
            RestoreError::NotKept { .. } => Self::from_error(Exit::Io, &error),
        }
    }
}

impl From<ChoiceError> for Failure {
    fn from(error: ChoiceError) -> Self {
        match error {
            ChoiceError::Walk(error) => error.into(),
            ChoiceError::Artifact(error) => error.into(),
            ChoiceError::History(error) => error.into(),
        }
    }
}

impl From<DoctorError> for Failure {
    fn from(error: DoctorError) -> Self {
        match error {
            DoctorError::Commit(error) => ChangeError::Commit(error).into(),
            DoctorError::History(error) => error.into(),
            DoctorError::Mend(error) => error.into(),
            DoctorError::Walk(error) => error.into(),
            DoctorError::Checkpoints(_) => Self::from_error(Exit::Io, &error),
        }
    }
}

impl From<ManifestPlaceError> for Failure {
    fn from(error: ManifestPlaceError) -> Self {
        match error {
            ManifestPlaceError::Outside(error) => error.into(),
            ManifestPlaceError::Root(_) => Self::from_error(Exit::Io, &error),
            ManifestPlaceError::Installers { .. } => Self::from_error(Exit::Usage, &error),
        }
    }
}

impl From<ManifestReadError> for Failure {
    fn from(error: ManifestReadError) -> Self {
        Self::from_error(Exit::Io, &error)
    }
}

impl From<ManifestWriteError> for Failure {
    fn from(error: ManifestWriteError) -> Self {
        let exit = match &error {
            ManifestWriteError::Unlistable(_) => Exit::Findings,
            ManifestWriteError::Read(_) | ManifestWriteError::Order(_) => Exit::Io,
        };
        Self::from_error(exit, &error)
    }
}

impl From<ManifestPublishError> for Failure {
    fn from(error: ManifestPublishError) -> Self {
        match error {
            ManifestPublishError::Place(error) => error.into(),
            ManifestPublishError::Commit(error) => ChangeError::Commit(error).into(),
        }
    }
}

fn refusal(path: &ProjectPath, refusal: &TransitionRefusal) -> Failure {
    let exit = match refusal {
        TransitionRefusal::EmptyStep => Exit::Usage,
        _ => Exit::Findings,
    };
    let help = match refusal {
        TransitionRefusal::Strict(_) => "without `--strict` this is only a warning".to_owned(),
        TransitionRefusal::EmptyStep => "write it as in `step-03-success`, `3` or `03`".to_owned(),
        TransitionRefusal::OpenChildren { .. } => {
            "finish them first, or insist: `--force --reason TEXT`; `stepmark tree` shows them".to_owned()
        }
        TransitionRefusal::Finished => format!("`stepmark show {path}` shows its state"),
        _ => format!("`stepmark check {path}` shows the place"),
    };
    let mut failure = Failure::new(exit, format!("`{path}` is left as it is")).with_help(help);
    failure.causes = vec![chain(refusal)];
    failure
}

fn edit_failure(path: &ProjectPath, bytes: &[u8], error: &EditError) -> Failure {
    let place = match error {
        EditError::Refused { span, .. } => span.start,
        EditError::Parse(error) => error.offset(),
        EditError::Region(_) => 0,
    };
    let position = Excerpt::new(bytes).position(place);
    let failure = Failure::new(Exit::Findings, format!("cannot edit `{path}:{position}`: {error}"));
    match error {
        EditError::Region(_) => {
            failure.with_help("put `---` lines around the keys at the very start of the file")
        }
        EditError::Parse(_) => failure.with_help("`stepmark check` shows the place; nothing was changed"),
        EditError::Refused { .. } => failure.with_help("nothing was changed"),
    }
}
