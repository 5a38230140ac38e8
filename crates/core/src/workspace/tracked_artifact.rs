//! An artifact together with the workflow that it belongs to.

use std::sync::Arc;

use crate::{
    artifact::{Artifact, ProjectPath, State},
    document::{KeyPath, Value},
    transition::{Command, Plan, StepLists, Strictness, TransitionRefusal, decide},
    workflow::{Evidence, Progress, Track, WorkflowDefinition},
};

/// An artifact, its workflow if it is known, and how far it has come.
#[derive(Clone, Debug)]
pub struct TrackedArtifact {
    artifact: Artifact,
    membership: Membership,
    steps: StepLists,
}

/// Which workflow an artifact belongs to.
#[derive(Clone, Debug)]
pub enum Membership {
    /// One workflow.
    Member {
        /// Its steps.
        workflow: Arc<WorkflowDefinition>,
        /// Why this one.
        evidence: Vec<Evidence>,
    },
    /// Several fit, and nothing tells them apart.
    Ambiguous {
        /// Their names.
        candidates: Vec<String>,
    },
    /// The configuration names one that does not exist.
    Missing {
        /// The name in the configuration.
        name: String,
    },
    /// None is known.
    None,
}

impl TrackedArtifact {
    pub(super) fn new(artifact: Artifact, membership: Membership) -> Self {
        let track = match &membership {
            Membership::Member { workflow, .. } => workflow.chain.track(),
            _ => Track::Create,
        };
        let steps = StepLists::read(&artifact, track);
        Self { artifact, membership, steps }
    }

    /// Where the artifact stands in the project.
    pub const fn path(&self) -> &ProjectPath {
        self.artifact.path()
    }

    /// The artifact by itself.
    pub const fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// What the frontmatter says.
    pub const fn state(&self) -> &State {
        self.artifact.state()
    }

    /// The steps that the frontmatter lists as completed.
    pub const fn steps(&self) -> &StepLists {
        &self.steps
    }

    /// Which workflow it belongs to, and why.
    pub const fn membership(&self) -> &Membership {
        &self.membership
    }

    /// The workflow, if it is known.
    pub fn workflow(&self) -> Option<&WorkflowDefinition> {
        match &self.membership {
            Membership::Member { workflow, .. } => Some(workflow),
            _ => None,
        }
    }

    /// How far it has come, if its workflow is known.
    pub fn progress(&self) -> Option<Progress<'_>> {
        self.workflow().map(|workflow| workflow.progress(&self.steps.record()))
    }

    /// The plan that carries out `command`.
    ///
    /// # Errors
    /// When the command makes no sense for the artifact.
    pub fn decide(&self, command: &Command, strictness: Strictness) -> Result<Plan, TransitionRefusal> {
        decide(&self.artifact, self.workflow(), command, strictness)
    }

    /// The plan that completes `step`, in any spelling; an unknown step or one out of order is only remarked.
    ///
    /// # Errors
    /// When the artifact's state cannot be read.
    pub fn complete(&self, step: &str) -> Result<Plan, TransitionRefusal> {
        self.decide(&Command::Complete { steps: vec![step.to_owned()] }, Strictness::Warn)
    }

    /// The plan that opens `step` again.
    ///
    /// # Errors
    /// When the artifact's state cannot be read.
    pub fn reopen(&self, step: &str) -> Result<Plan, TransitionRefusal> {
        self.decide(&Command::Reopen { steps: vec![step.to_owned()] }, Strictness::Warn)
    }

    /// The plan that gives `key` a value.
    ///
    /// # Errors
    /// When the artifact's state cannot be read.
    pub fn set(&self, key: impl Into<KeyPath>, value: impl Into<Value>) -> Result<Plan, TransitionRefusal> {
        self.decide(&Command::Set { assignments: vec![(key.into(), value.into())] }, Strictness::Warn)
    }
}
