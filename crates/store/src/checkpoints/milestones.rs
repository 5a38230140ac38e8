//! Checkpoints that are made by themselves, where the configuration says so.

use std::fmt;

use crate::changes::ChangeReport;
use crate::checkpoints::Checkpoints;
use crate::checkpoints::{CheckpointError, CheckpointMade};
use crate::commit::Outcome;
use crate::configuration::Milestone;
use stepmark_model::tracked_artifact::TrackedArtifact;
use stepmark_model::workflow::{Next, StepId, StepMatch};

/// The reason why a checkpoint is made by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reached {
    /// A configured milestone.
    Milestone(String),
    /// So many steps are done.
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
    ///
    /// # Errors
    /// Those of [`Checkpoints::make`]; the completion stands.
    pub fn make_at_milestone(
        &self,
        carried: &ChangeReport,
        steps: &[String],
    ) -> Result<Option<CheckpointMade>, CheckpointError> {
        if !matches!(carried.outcome, Outcome::Written { .. }) {
            return Ok(None);
        }
        let configuration = self.workspace.configuration();
        let every = configuration.checkpoint_every().map(|every| every.get() as usize);
        match reached(&carried.artifact, steps, configuration.milestones(), every) {
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
