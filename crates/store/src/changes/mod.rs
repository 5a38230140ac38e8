//! Changing artifacts: read, decide, edit, prove, commit; again from the start when another program was
//! faster.

pub(crate) mod artifact_change;
pub(crate) mod delegating;
pub(crate) mod guards;
pub(crate) mod recording;
pub(crate) mod removing;
pub(crate) mod telling;
pub(crate) mod update_error;
pub(crate) mod versions;

pub use delegating::{Delegated, DelegationOrder};
pub use telling::TellError;
pub use update_error::UpdateError;

use std::{collections::BTreeMap, path::Path};

use crate::changes::{artifact_change::ArtifactChange, versions::Versions};
use crate::checking::CheckError;
use crate::commit::{
    self, CommitError, Conflict, FileDecision, FileTransition, Halt, Outcome, PublishError, Transaction,
    WriteState,
};
use crate::configuration::{STEPMARK_GITIGNORE, initial_configuration};
use crate::disk::{CONFIGURATION_PATH, walk::WalkError};
use crate::gates::GateError;
use crate::history::HistoryError;
use crate::leases::LeaseError;
use crate::repository::git::GitFacts;
use crate::workspace::{ArtifactError, Workspace, workflows::WorkflowFileError};
use stepmark_frontmatter::EditError;
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::{
    artifact::{Artifact, ProjectPath, ProjectPathError},
    journal::{self, Event, EventDraft, EventId, Kind},
    transition::{Command, Plan, Remark, Strictness, TransitionRefusal},
};

/// The reason for which an artifact is changed, for history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeReason {
    /// Nobody said.
    Unsaid,
    /// For this reason.
    Said(String),
    /// For this reason, although the lifecycle or open children stand against it.
    Forced(String),
}

impl ChangeReason {
    /// The reason that somebody may have said.
    pub fn said(reason: Option<String>) -> Self {
        reason.map_or(Self::Unsaid, Self::Said)
    }
}

/// A command that was carried out.
#[derive(Debug)]
pub struct Carried {
    /// The artifact as it is now.
    pub artifact: TrackedArtifact,
    /// The remarks to be made about it.
    pub remarks: Vec<Remark>,
    /// The outcome: what was written.
    pub outcome: Outcome,
}

/// The outcome of `initialise`: a configuration was made, or there was one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initialised {
    /// There was none; now there is.
    Created,
    /// It was there, and is as it was.
    Existing,
}

/// A reason why a change failed; mostly nothing was changed then, and [`ChangeError::write_state`] says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The path names no file of the project.
    #[error(transparent)]
    Path(#[from] ProjectPathError),
    /// It cannot be read.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The command makes no sense for it.
    #[error("`{path}` is left as it is")]
    Refused {
        /// The artifact.
        path: ProjectPath,
        /// The reason.
        source: TransitionRefusal,
    },
    /// The edit cannot be made faithfully.
    #[error("cannot edit `{path}`")]
    Edit {
        /// The artifact.
        path: ProjectPath,
        /// The bytes that were to be edited, to show the place.
        bytes: Vec<u8>,
        /// The reason.
        source: EditError,
    },
    /// The event is about no artifact.
    #[error("event {event} is about no artifact: there is nothing to change")]
    NoArtifact {
        /// The event.
        event: EventId,
    },
    /// The event removed the file, of which history does not keep the body.
    #[error("event {event} removed `{path}`, and history keeps its frontmatter only")]
    Removed {
        /// The event.
        event: EventId,
        /// The artifact.
        path: ProjectPath,
        /// Set where git had its bytes then.
        was_in_git: bool,
    },
    /// Nobody but the file that is to be removed has its bytes.
    #[error(
        "`{path}` is left as it is: neither the commit that is checked out nor the index of git has these bytes"
    )]
    NotInGit {
        /// The artifact.
        path: ProjectPath,
    },
    /// Work was delegated from the artifact that is to be removed.
    #[error("`{path}` is left as it is: work was delegated from it: {}", commit::named(.children))]
    HasChildren {
        /// The artifact.
        path: ProjectPath,
        /// The artifacts of that work.
        children: Vec<ProjectPath>,
    },
    /// Its change cannot be told, since what history says of it cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// A lease forbids it, or cannot be read.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The artifacts cannot be listed, so nobody knows whether work that was delegated is open.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// The gates of steps that the change takes away cannot be removed.
    #[error("`{path}` is left as it is: a gate that says a step is done would stay behind")]
    GatesNotClosed {
        /// The artifact.
        path: ProjectPath,
        /// The problem.
        source: GateError,
    },
    /// The change is made, but the gates of the artifact are those of before, and closed.
    #[error("`{path}` is changed, but its gates are not up to date: `stepmark project` rebuilds them")]
    GatesNotOpened {
        /// The artifact.
        path: ProjectPath,
        /// The problem.
        source: GateError,
    },
    /// It cannot be found out what is wrong with it.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The file that is to be made is there.
    #[error("`{path}` exists already: name another file")]
    Exists {
        /// The file.
        path: ProjectPath,
    },
    /// It cannot be written.
    #[error(transparent)]
    Commit(CommitError),
}

impl From<CommitError> for ChangeError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Missing { path } => ArtifactError::Missing { path }.into(),
            error => Self::Commit(error),
        }
    }
}

impl ChangeError {
    /// Returns whether the files are changed in spite of the error.
    pub const fn write_state(&self) -> WriteState {
        match self {
            Self::GatesNotOpened { .. } => WriteState::Written,
            Self::Commit(error) => error.write_state(),
            _ => WriteState::NotWritten,
        }
    }

    /// Returns whether another program's writing kept this change from being made: trying again later helps.
    pub const fn is_conflict(&self) -> bool {
        matches!(
            self,
            Self::Commit(
                CommitError::Publish(PublishError::Conflict(_) | PublishError::Busy { .. })
                    | CommitError::OutdatedAnswers { .. }
            )
        )
    }

    /// The conflict, where another program changed the file meanwhile.
    pub fn conflict(&self) -> Option<&Conflict> {
        match self {
            Self::Commit(CommitError::Publish(PublishError::Conflict(conflict))) => Some(conflict),
            _ => None,
        }
    }
}

impl Workspace {
    /// Changes the artifact at `path` by the plan of `decide`, which is called again with a new reading when
    /// another program changed the file meanwhile; so it must depend on the artifact it is given alone. The
    /// journal tells of it. It may be called under the artifact's lock: debug builds stop a program that
    /// starts git there. `decide` fails with any type: with the refusal of a plan, or with the caller's own
    /// error.
    ///
    /// # Errors
    /// When the artifact cannot be read, `decide` refuses, the edit cannot be proven, or the file cannot be
    /// written. Whether it is changed in spite of the error, [`UpdateError::write_state`] says: mostly it is
    /// not.
    pub fn update<E: 'static>(
        &self,
        path: impl AsRef<Path>,
        decide: impl FnMut(&TrackedArtifact) -> Result<Plan, E>,
    ) -> Result<Carried, UpdateError<E>> {
        let path = ProjectPath::new(path).map_err(ChangeError::from)?;
        self.update_telling(&path, &EventDraft::new(Kind::CHANGE), decide)
    }

    /// The same, where the journal is told what `draft` says. Where the status of a story moves, its line
    /// `Status:` and the entry of a `sprint-status.yaml` that lists it come along in the same commit; what
    /// cannot is remarked.
    ///
    /// # Errors
    /// Those of [`Workspace::update`].
    pub(crate) fn update_telling<E: 'static>(
        &self,
        path: &ProjectPath,
        draft: &EventDraft,
        decide: impl FnMut(&TrackedArtifact) -> Result<Plan, E>,
    ) -> Result<Carried, UpdateError<E>> {
        ArtifactChange::new(self, path, draft, decide).carry_out()
    }

    /// Changes several files as one: all of them or none, whenever the process dies. `decide` is given the
    /// bytes of each (`None`: no such file) and may be called again; `draft` says what the journal is told of
    /// each that changes.
    ///
    /// # Errors
    /// What `decide` refuses; or why the commit did not end well: [`ChangeError::write_state`] says whether
    /// the files are changed.
    pub fn change_files(
        &self,
        paths: &[ProjectPath],
        draft: impl Fn(&ProjectPath) -> EventDraft,
        mut decide: impl FnMut(&[Option<&[u8]>]) -> Result<Vec<FileDecision>, ChangeError>,
    ) -> Result<Vec<Outcome>, ChangeError> {
        self.change_files_asking(paths, draft, |found| Ok(decide(found)?))
    }

    /// The same, where `decide` may want to ask what takes long.
    pub(crate) fn change_files_asking(
        &self,
        paths: &[ProjectPath],
        draft: impl Fn(&ProjectPath) -> EventDraft,
        mut decide: impl FnMut(&[Option<&[u8]>]) -> Result<Vec<FileDecision>, Halt<ChangeError>>,
    ) -> Result<Vec<Outcome>, ChangeError> {
        // Each file that an attempt was to change, with the last event that was to tell of it.
        let mut told: BTreeMap<ProjectPath, Option<EventId>> = BTreeMap::new();
        let facts = GitFacts::default();
        let record = |(), changed: &[FileTransition<'_>]| {
            let (mut events, mut questions) = (Vec::new(), Vec::new());
            for change in changed {
                let versions = Versions::read(change.path, [change.old, change.new]);
                match self.events_of(*change, &versions, &draft(change.path), &facts) {
                    Ok(own) => {
                        told.insert(change.path.clone(), own.last().map(|event| event.id));
                        events.extend(own);
                    }
                    Err(Halt::Ask(question)) => questions.push(question),
                    Err(refused) => return Err(refused),
                }
            }
            match questions.is_empty() {
                true => Ok(events),
                false => Err(Halt::Ask(Box::new(|| questions.into_iter().for_each(|question| question())))),
            }
        };
        let transaction = Transaction::new(self.root(), paths, self.commit_options());
        let outcomes = transaction.run(|found| Ok((decide(found)?, ())), record);
        if outcomes.is_err() {
            told.keys().for_each(|path| self.reopen_gates(path));
        }
        let outcomes = outcomes?;
        for (path, outcome) in paths.iter().zip(&outcomes) {
            match told.remove(path) {
                None => {}
                // An attempt before the last one made an event of it, which the journal was never told.
                Some(_) if *outcome == Outcome::Unchanged => self.reopen_gates(path),
                Some(event) => self
                    .follow(path, event, None)
                    .map_err(|source| ChangeError::GatesNotOpened { path: path.clone(), source })?,
            }
        }
        Ok(outcomes)
    }

    /// Carries out a command on the artifact at `path`, for a reason that history keeps.
    ///
    /// # Errors
    /// Those of [`Workspace::update`].
    pub fn carry_out(
        &self,
        path: &ProjectPath,
        command: &Command,
        strictness: Strictness,
        reason: ChangeReason,
    ) -> Result<Carried, ChangeError> {
        let draft = EventDraft::new(Kind::CHANGE).with_command(command.to_string());
        let draft = match reason {
            ChangeReason::Unsaid => draft,
            ChangeReason::Said(reason) => draft.with_reason(Some(reason)),
            ChangeReason::Forced(reason) => draft.with_reason(Some(reason.clone())).insisting(Some(reason)),
        };
        let mut carried =
            self.update_telling(path, &draft, |artifact| artifact.decide(command, strictness))?;
        if matches!(command, Command::Complete { .. })
            && let Err(error) = self.leases().release_after_step(carried.artifact.artifact())
        {
            carried.remarks.push(Remark::LeaseLeft { reason: error.to_string() });
        }
        Ok(carried)
    }

    /// Takes back what `event` changed in its artifact, as a new event; history is never rewritten.
    ///
    /// # Errors
    /// When the event changed nothing that can be taken back, its places were changed since, and those of
    /// [`Workspace::update`].
    pub fn undo(&self, event: &Event, reason: Option<String>) -> Result<Carried, ChangeError> {
        let Some(artifact) = &event.artifact else {
            return Err(ChangeError::NoArtifact { event: event.id });
        };
        if event.kind == Kind::DELETE {
            let was_in_git = event.data.get(removing::IN_GIT) != Some(&false.into());
            return Err(ChangeError::Removed { event: event.id, path: artifact.path.clone(), was_in_git });
        }
        let draft = EventDraft::new(Kind::UNDO)
            .with_command(format!("undo {}", event.id))
            .with_reason(reason)
            .with("undone", event.id.to_string());
        Ok(self.update_telling(&artifact.path, &draft, |now| journal::undo(now.artifact(), event))?)
    }

    /// Makes the configuration of the project, with `project_id` as its identity, if there is none.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn initialise(&self, project_id: &str) -> Result<Initialised, ChangeError> {
        let create = |path: &str, text: &str| {
            let path = ProjectPath::new(path)?;
            match commit::create(self.root(), &path, text.as_bytes(), self.commit_options()) {
                Ok(_) => Ok(Initialised::Created),
                Err(CommitError::Publish(PublishError::Conflict(_))) => Ok(Initialised::Existing),
                Err(error) => Err(ChangeError::from(error)),
            }
        };
        create(".stepmark/.gitignore", STEPMARK_GITIGNORE)?;
        create(CONFIGURATION_PATH, &initial_configuration(project_id))
    }

    pub(crate) fn read_again(
        &self,
        path: &ProjectPath,
        bytes: &[u8],
    ) -> Result<TrackedArtifact, ChangeError> {
        self.tracked(&Artifact::read(path.clone(), bytes.to_vec()))
    }

    /// The artifact with its workflow.
    pub(crate) fn tracked(&self, artifact: &Artifact) -> Result<TrackedArtifact, ChangeError> {
        let tracked = self.track(artifact.clone());
        tracked.map_err(|error: WorkflowFileError| ArtifactError::from(error).into())
    }
}
