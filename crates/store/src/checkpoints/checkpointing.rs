//! Making checkpoints: file and event as one.

use crate::changes::{ChangeReport, recording::Versions};
use crate::commit::{CommitError, FileDecision, FileTransition, Halt, Outcome, Transaction};
use crate::{Error, ErrorKind};
use crate::{checkpoints::Checkpoints, commit};
use crate::{configuration::Milestone, repository::git::GitFacts, repository::git_history::head_commit};
use stepmark_model::artifact::{Artifact, ProjectPath};
use stepmark_model::journal::{ArtifactKey, EventDraft, Kind, SegmentName};
use stepmark_model::projection::checkpoint::{Checkpoint, CheckpointContext, checkpoint_path};
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::workflow::{Next, StepId, StepMatch};

/// The most attempts while the artifact changes.
const ATTEMPTS: usize = 8;

#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointMade {
    pub place: ProjectPath,
    pub checkpoint: Checkpoint,
    /// Journal segments sealed with it, so that history reaches git.
    pub sealed: Vec<SegmentName>,
}

impl Checkpoints<'_> {
    pub fn make(&self, path: &ProjectPath, message: Option<&str>) -> Result<CheckpointMade, Error> {
        let git_commit = head_commit(self.workspace.root());
        for _ in 0..ATTEMPTS {
            let bytes = self.workspace.read_file(path).map_err(Error::unwritten)?;
            let artifact = Artifact::read(path.clone(), bytes);
            let (place, checkpoint) = match self.write(&artifact, message, git_commit.as_deref()) {
                Err(error)
                    if error.kind() == ErrorKind::Conflict && error.detail::<CommitError>().is_none() =>
                {
                    continue;
                }
                made => made?,
            };
            return match self.workspace.history().seal(self.workspace.attribution().session.as_ref()) {
                Ok(sealed) => Ok(CheckpointMade { place, checkpoint, sealed }),
                Err(source) => {
                    let message = format!("the checkpoint `{place}` is made, but the journal was not sealed");
                    Err(Error::io(message, source))
                }
            };
        }
        Err(restless(path))
    }

    /// Conflicts if the artifact differs from what was read; the error names it.
    fn write(
        &self,
        artifact: &Artifact,
        message: Option<&str>,
        git_commit: Option<&str>,
    ) -> Result<(ProjectPath, Checkpoint), Error> {
        let (workspace, path, bytes) = (self.workspace, artifact.path(), artifact.bytes());
        let no_state = |source| {
            Error::refused(format!("cannot make a checkpoint of `{path}`"))
                .because(source)
                .help(format!("`stepmark check {path}` shows the place; nothing was written"))
        };
        Checkpoint::state_of(artifact).map_err(no_state)?;
        let at = workspace.now();
        let place = checkpoint_path(&ArtifactKey::of(artifact), at, artifact.file_hash());
        let place = place?;
        commit::make_folders_to(workspace.root(), &place, workspace.commit_options().fsync)
            .map_err(CommitError::from)?;
        let (git_commit, message) = (git_commit.map(str::to_owned), message.map(str::to_owned));
        let draft = EventDraft::new(Kind::CHECKPOINT)
            .with_command("checkpoint")
            .with_reason(message.clone())
            .with("checkpoint", place.as_str())
            .with("git_commit", git_commit.clone());
        let facts = GitFacts::default();
        let decide = |found: &[Option<&[u8]>]| -> Result<_, Halt<Error>> {
            if found.first() != Some(&Some(bytes)) {
                return Err(restless(path).into());
            }
            if matches!(found, [_, Some(_)]) {
                return Err(Error::exists(format!("the checkpoint `{place}` is there already")).into());
            }
            let unchanged = FileTransition { path, old: Some(bytes), new: Some(bytes), last_event: None };
            let versions = Versions::of(Some(artifact.clone()), None, Some(artifact.clone()));
            let events = workspace.events_of(unchanged, &versions, &draft, &facts).map_err(Halt::of)?;
            // `events_of` ends with the draft's event.
            let event = events.last().map(|event| event.id).ok_or_else(|| restless(path))?;
            let context =
                CheckpointContext { event, git_commit: git_commit.clone(), at, message: message.clone() };
            let checkpoint = Checkpoint::of(artifact, context).map_err(no_state)?;
            Ok((vec![FileDecision::Keep, FileDecision::Write(checkpoint.to_bytes())], (checkpoint, events)))
        };
        let mut made = None;
        let record = |(checkpoint, events), _: &[FileTransition<'_>]| {
            made = Some(checkpoint);
            Ok(events)
        };
        let paths = [path.clone(), place.clone()];
        Transaction::new(workspace.root(), &paths, workspace.commit_options()).run(decide, record)?;
        made.map(|checkpoint| (place, checkpoint)).ok_or_else(|| restless(path))
    }

    /// Call it after each completion.
    pub fn make_at_milestone(
        &self,
        carried: &ChangeReport,
        steps: &[String],
    ) -> Result<Option<CheckpointMade>, Error> {
        if !matches!(carried.outcome, Outcome::Written { .. }) {
            return Ok(None);
        }
        let configuration = self.workspace.configuration();
        let every = configuration.checkpoints.every.map(|every| every.get() as usize);
        let reached = reached(&carried.artifact, steps, &configuration.milestones, every);
        reached.map(|reached| self.make(carried.artifact.path(), Some(&reached))).transpose()
    }
}

/// The first milestone reached by completing `steps`: a step, or a number of steps.
fn reached(
    artifact: &TrackedArtifact,
    steps: &[String],
    milestones: &[Milestone],
    every: Option<usize>,
) -> Option<String> {
    let progress = artifact.progress();
    let is_reached = |milestone: &&Milestone| match milestone {
        Milestone::Finished => progress.as_ref().is_some_and(|progress| progress.next == Next::Finished),
        Milestone::Step(step) => steps.iter().any(|done| is_same_step(artifact, done, step)),
    };
    if let Some(milestone) = milestones.iter().find(is_reached) {
        return Some(format!("milestone {milestone}"));
    }
    let every = every?;
    let done = progress.as_ref().map_or(artifact.steps().completed().len(), |progress| progress.done_units);
    let before = done.saturating_sub(steps.len());
    (done / every > before / every).then(|| format!("{done} steps are done"))
}

/// Compares spellings of a workflow's step; without a workflow, texts.
fn is_same_step(artifact: &TrackedArtifact, one: &str, other: &str) -> bool {
    let Some(workflow) = artifact.workflow() else { return one == other };
    let find = |spelling: &str| match workflow.chain.find(&StepId::parse(spelling)) {
        StepMatch::Step { step, .. } => Some(step.id.clone()),
        StepMatch::Number(_) | StepMatch::Ambiguous(_) | StepMatch::None => None,
    };
    one == other || find(one).is_some_and(|step| find(other) == Some(step))
}

fn restless(path: &ProjectPath) -> Error {
    let message = format!("cannot make a checkpoint of `{path}`: another program keeps changing it");
    Error::new(ErrorKind::Conflict, message)
}
