//! Making checkpoints: the file and the event that tells of it, as one.

use crate::changes::{ChangeError, ChangeReport, records::Versions};
use crate::commit::{CommitError, FileDecision, FileTransition, Halt, Outcome, Transaction};
use crate::workspace::{AppendError, ArtifactError, Workspace};
use crate::{checkpoints::Checkpoints, commit};
use crate::{configuration::Milestone, repository::git::GitFacts, repository::git_history::head_commit};
use std::fmt;
use stepmark_model::artifact::{Artifact, FileHash, ProjectPath};
use stepmark_model::journal::{ArtifactKey, Event, EventDraft, Kind, SegmentName};
use stepmark_model::projection::checkpoint::{Checkpoint, CheckpointContext, NoCheckpoint, checkpoint_path};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::workflow::{Next, StepId, StepMatch};

/// The number of attempts, where the artifact is changed meanwhile.
const ATTEMPTS: usize = 8;

#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointMade {
    pub place: ProjectPath,
    pub checkpoint: Checkpoint,
    /// The segments of the journal that were sealed with it, so that history reaches git.
    pub sealed: Vec<SegmentName>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    #[error("cannot make a checkpoint of `{path}`")]
    NoState { path: ProjectPath, source: NoCheckpoint },
    #[error("the checkpoint `{place}` is there already")]
    Existing { place: ProjectPath },
    #[error("cannot make a checkpoint of `{path}`: another program keeps changing it")]
    Restless { path: ProjectPath },
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error("the checkpoint `{place}` is made, but the journal was not sealed")]
    Seal { place: ProjectPath, source: AppendError },
}

impl From<CommitError> for CheckpointError {
    fn from(error: CommitError) -> Self {
        Self::Change(error.into())
    }
}

/// A reason why the checkpoint was not made in an attempt.
enum Ended {
    Refused(CheckpointError),
    /// The artifact is not the one that the file was named for.
    Moved,
}

impl<E: Into<CheckpointError>> From<E> for Ended {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

type Made = (Checkpoint, Vec<Event>);

/// The making of a checkpoint: the decision on an artifact and on the file of its checkpoint.
struct Making<'w> {
    workspace: &'w Workspace,
    path: &'w ProjectPath,
    place: &'w ProjectPath,
    /// The hash of the artifact that `place` is named for.
    hash: FileHash,
    at: jiff::Timestamp,
    git_commit: Option<String>,
    message: Option<String>,
    facts: GitFacts,
}

impl Making<'_> {
    fn make(&self, bytes: &[u8]) -> Result<Made, Halt<Ended>> {
        let no_state = |source| Ended::from(CheckpointError::NoState { path: self.path.clone(), source });
        let artifact = Artifact::read_with_value(self.path.clone(), bytes, None);
        Checkpoint::state_of(&artifact).map_err(no_state)?;
        let draft = EventDraft::new(Kind::CHECKPOINT)
            .with_command("checkpoint")
            .with_reason(self.message.clone())
            .with("checkpoint", self.place.as_str())
            .with("git_commit", self.git_commit.clone());
        let unchanged =
            FileTransition { path: self.path, old: Some(bytes), new: Some(bytes), last_event: None };
        let versions = Versions::of(Some(artifact.clone()), None, Some(artifact.clone()));
        let events = self.workspace.events_of(unchanged, &versions, &draft, &self.facts).map_err(Halt::of)?;
        // `events_of` ends with the event of the draft.
        let Some(event) = events.last().map(|event| event.id) else {
            return Err(Ended::from(CheckpointError::Restless { path: self.path.clone() }).into());
        };
        let context = CheckpointContext {
            event,
            git_commit: self.git_commit.clone(),
            at: self.at,
            message: self.message.clone(),
        };
        let checkpoint = Checkpoint::of(&artifact, context).map_err(no_state)?;
        Ok((checkpoint, events))
    }

    /// The decision on the artifact and the file of its checkpoint, with the checkpoint and the events that
    /// tell of it.
    fn decide(&self, found: &[Option<&[u8]>]) -> Result<(Vec<FileDecision>, Made), Halt<Ended>> {
        let [Some(bytes), present] = *found else {
            return Err(
                Ended::from(ChangeError::from(ArtifactError::Missing { path: self.path.clone() })).into()
            );
        };
        if FileHash::of(bytes) != self.hash {
            return Err(Ended::Moved.into());
        }
        if present.is_some() {
            return Err(Ended::from(CheckpointError::Existing { place: self.place.clone() }).into());
        }
        let made = self.make(bytes)?;
        Ok((vec![FileDecision::Keep, FileDecision::Write(made.0.to_bytes())], made))
    }
}

impl Checkpoints<'_> {
    pub fn make(&self, path: &ProjectPath, message: Option<&str>) -> Result<CheckpointMade, CheckpointError> {
        let git_commit = head_commit(self.workspace.root());
        for _ in 0..ATTEMPTS {
            let bytes = self.workspace.read_file(path).map_err(ChangeError::from)?;
            let artifact = Artifact::read(path.clone(), bytes);
            let no_state = |source| CheckpointError::NoState { path: path.clone(), source };
            Checkpoint::state_of(&artifact).map_err(no_state)?;
            let (at, hash) = (self.workspace.now(), artifact.file_hash());
            let place = checkpoint_path(&ArtifactKey::of(&artifact), at, hash).map_err(ChangeError::from)?;
            commit::make_folders_to(self.workspace.root(), &place, self.workspace.commit_options().fsync)
                .map_err(CommitError::from)?;
            let making = Making {
                workspace: self.workspace,
                path,
                place: &place,
                hash,
                at,
                git_commit: git_commit.clone(),
                message: message.map(str::to_owned),
                facts: GitFacts::default(),
            };
            let paths = [path.clone(), place.clone()];
            let mut made = None;
            let record = |(checkpoint, events), _: &[FileTransition<'_>]| {
                made = Some(checkpoint);
                Ok(events)
            };
            let transaction =
                Transaction::new(self.workspace.root(), &paths, self.workspace.commit_options());
            match (transaction.run(|found| making.decide(found), record), made) {
                (Ok(_), Some(checkpoint)) => return self.sealed(place, checkpoint),
                (Err(Ended::Refused(error)), _) => return Err(error),
                (Ok(_), None) | (Err(Ended::Moved), _) => {}
            }
        }
        Err(CheckpointError::Restless { path: path.clone() })
    }

    fn sealed(&self, place: ProjectPath, checkpoint: Checkpoint) -> Result<CheckpointMade, CheckpointError> {
        match self.workspace.history().seal(self.workspace.attribution().session.as_ref()) {
            Ok(sealed) => Ok(CheckpointMade { place, checkpoint, sealed }),
            Err(source) => Err(CheckpointError::Seal { place, source }),
        }
    }
}

/// The reason why a checkpoint is made by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reached {
    Milestone(String),
    Count(usize),
}

impl fmt::Display for Reached {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Milestone(name) => write!(out, "milestone {name}"),
            Self::Count(steps) => write!(out, "{steps} steps are done"),
        }
    }
}

impl Checkpoints<'_> {
    /// Makes a checkpoint if completing `steps`, as it was `carried` out, reached a milestone of the
    /// configuration. Called after each completion.
    pub fn make_at_milestone(
        &self,
        carried: &ChangeReport,
        steps: &[String],
    ) -> Result<Option<CheckpointMade>, CheckpointError> {
        if !matches!(carried.outcome, Outcome::Written { .. }) {
            return Ok(None);
        }
        let configuration = self.workspace.configuration();
        let every = configuration.checkpoints.every.map(|every| every.get() as usize);
        match reached(&carried.artifact, steps, &configuration.milestones, every) {
            Some(reached) => self.make(carried.artifact.path(), Some(&reached.to_string())).map(Some),
            None => Ok(None),
        }
    }
}

/// The first milestone that completing `steps` reached.
fn reached(
    artifact: &TrackedArtifact,
    steps: &[String],
    milestones: &[Milestone],
    every: Option<usize>,
) -> Option<Reached> {
    let progress = artifact.progress();
    let is_reached = |milestone: &&Milestone| match milestone {
        Milestone::Finished => progress.as_ref().is_some_and(|progress| progress.next == Next::Finished),
        Milestone::Step(step) => steps.iter().any(|done| is_same_step(artifact, done, step)),
    };
    let milestone = milestones.iter().find(is_reached).map(|one| Reached::Milestone(one.to_string()));
    milestone.or_else(|| {
        let every = every?;
        let done = progress.map_or(artifact.steps().completed().len(), |progress| progress.done_units);
        let before = done.saturating_sub(steps.len());
        (done / every > before / every).then_some(Reached::Count(done))
    })
}

/// Returns whether two spellings mean one step: of the workflow, or, without one, the same text.
fn is_same_step(artifact: &TrackedArtifact, one: &str, other: &str) -> bool {
    let Some(workflow) = artifact.workflow() else { return one == other };
    let find = |spelling: &str| match workflow.chain.find(&StepId::parse(spelling)) {
        StepMatch::Step { step, .. } => Some(step.id.clone()),
        StepMatch::Number(_) | StepMatch::Ambiguous(_) | StepMatch::None => None,
    };
    one == other || find(one).is_some_and(|step| find(other) == Some(step))
}
