//! What a state says about going on.

use crate::{
    artifact::ProjectPath,
    workflow::{Next, Progress, Step, UnknownNext, WorkState},
};

/// How far a state has come, and what comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumePoint {
    /// Where the workflow as a whole stands.
    pub state: WorkState,
    /// How many units of its route are done.
    pub done: usize,
    /// How many there are.
    pub total: usize,
    /// The completed steps as the state spells them.
    pub completed: Vec<String>,
    /// What comes next: one step, or several to choose from; none when the work is finished.
    pub next: Vec<NextStep>,
    /// What may be done instead, in special cases.
    pub alternatives: Vec<NextStep>,
    /// Its `status`, as it is spelled.
    pub status: Option<String>,
}

/// A step to go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    /// The name of the step.
    pub step: String,
    /// The file to read for it; `None` for a declared step.
    pub file: Option<ProjectPath>,
}

/// Why a state that can be read does not tell how to go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoResumePoint {
    /// No workflow is known for it.
    #[error("no workflow of the project fits")]
    NoWorkflow,
    /// Several are.
    #[error("several workflows fit: {}", candidates.join(", "))]
    Ambiguous {
        /// Their names.
        candidates: Vec<String>,
    },
    /// The configuration names one that does not exist.
    #[error("the configuration names the workflow `{name}`, and there is none")]
    MissingWorkflow {
        /// The name.
        name: String,
    },
    /// The workflow is empty.
    #[error("its workflow has no steps")]
    NoSteps,
    /// The list is that of another workflow.
    #[error("no listed step is one of its workflow")]
    NothingMatches,
}

impl ResumePoint {
    /// The outlook of a state whose workflow is known.
    ///
    /// # Errors
    /// When it does not tell what comes next.
    pub fn of(
        progress: &Progress<'_>,
        completed: Vec<String>,
        status: Option<String>,
    ) -> Result<Self, NoResumePoint> {
        let (next, alternatives) = match &progress.next {
            Next::Step { step, alternatives } => {
                (vec![NextStep::of(step)], alternatives.iter().copied().map(NextStep::of).collect())
            }
            Next::Choice(steps) => (steps.iter().copied().map(NextStep::of).collect(), Vec::new()),
            Next::Finished => (Vec::new(), Vec::new()),
            Next::Unknown(UnknownNext::NoSteps) => return Err(NoResumePoint::NoSteps),
            Next::Unknown(UnknownNext::NothingMatches) => return Err(NoResumePoint::NothingMatches),
        };
        Ok(Self {
            state: progress.state,
            done: progress.done_units,
            total: progress.total,
            completed,
            next,
            alternatives,
            status,
        })
    }

    /// Whether nothing is left to do.
    pub const fn is_finished(&self) -> bool {
        self.next.is_empty()
    }

    /// `5/14, next: step-04-journeys`
    pub fn in_words(&self) -> String {
        let names: Vec<&str> = self.next.iter().map(|next| next.step.as_str()).collect();
        let next =
            if names.is_empty() { "finished".to_owned() } else { format!("next: {}", names.join(" | ")) };
        format!("{}/{}, {next}", self.done, self.total)
    }
}

impl NextStep {
    fn of(step: &Step) -> Self {
        Self { step: step.name().to_owned(), file: step.path.clone() }
    }
}

impl NoResumePoint {
    /// What to do about it.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NoWorkflow => {
                "install the workflow, or declare one in `.stepmark/config.yaml` under `workflows`"
            }
            Self::Ambiguous { .. } => "bind it to one of them in `.stepmark/config.yaml`",
            Self::MissingWorkflow { .. } => "correct its name in `.stepmark/config.yaml`",
            Self::NoSteps | Self::NothingMatches => "`stepmark show` lists the steps of its workflow",
        }
    }
}
