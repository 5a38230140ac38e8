//! The point of a workflow that a state leads to.

use crate::{
    artifact::ProjectPath,
    tracked_artifact::{Membership, TrackedArtifact},
    workflow::{Next, Step, UnknownNext, WorkState},
};

/// The progress of a state, and its next steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumePoint {
    /// The state of the workflow as a whole; `None` where a status is all that is known.
    pub state: Option<WorkState>,
    pub done: usize,
    /// The total number; 0 where it has no workflow.
    pub total: usize,
    pub completed: Vec<String>,
    /// The next steps: one, or several to choose from; none when the work is finished.
    pub next: Vec<NextStep>,
    /// The steps that may be done instead, in special cases.
    pub alternatives: Vec<NextStep>,
    pub status: Option<String>,
    /// The state that its status goes to next, where it has no workflow.
    pub next_status: Option<String>,
    /// The states that its lifecycle lets its status go to.
    pub moves: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    pub step: String,
    /// The file to read for it; `None` for a declared step.
    pub file: Option<ProjectPath>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoResumePoint {
    #[error("no workflow of the project fits")]
    NoWorkflow,
    #[error("several workflows fit: {}", candidates.join(", "))]
    Ambiguous { candidates: Vec<String> },
    #[error("the configuration names the workflow `{name}`, and there is none")]
    MissingWorkflow { name: String },
    #[error("it is a story that is not imported yet: its frontmatter has no status")]
    NotImported,
    #[error("its status `{status}` is no state of the lifecycle `{lifecycle}`")]
    UnknownStatus { status: String, lifecycle: String },
    #[error("its workflow has no steps")]
    NoSteps,
    #[error("no listed step is one of its workflow")]
    NothingMatches,
}

impl ResumePoint {
    /// The outlook of a state whose workflow is known, or the lifecycle of its status.
    pub fn of(artifact: &TrackedArtifact) -> Result<Self, NoResumePoint> {
        let progress = artifact.progress();
        let (next, alternatives) = match progress.as_ref().map(|progress| &progress.next) {
            Some(Next::Step { step, alternatives }) => {
                (vec![NextStep::of(step)], alternatives.iter().copied().map(NextStep::of).collect())
            }
            Some(Next::Choice(steps)) => (steps.iter().copied().map(NextStep::of).collect(), Vec::new()),
            Some(Next::Finished) => (Vec::new(), Vec::new()),
            Some(Next::Unknown(UnknownNext::NoSteps)) => return Err(NoResumePoint::NoSteps),
            Some(Next::Unknown(UnknownNext::NothingMatches)) => return Err(NoResumePoint::NothingMatches),
            None if artifact.lifecycle_state().is_some() => (Vec::new(), Vec::new()),
            None => return Err(NoResumePoint::of(artifact)),
        };
        let is_open = progress.is_none() && artifact.has_work_left();
        Ok(Self {
            state: progress.as_ref().map(|progress| progress.state),
            done: progress.as_ref().map_or(0, |progress| progress.done_units),
            total: progress.as_ref().map_or(0, |progress| progress.total),
            completed: artifact.steps().completed().iter().map(ToString::to_string).collect(),
            next,
            alternatives,
            status: artifact.state().status.as_ref().and_then(|status| status.filled()).map(str::to_owned),
            next_status: artifact.next_state().filter(|_| is_open).map(|state| state.name.clone()),
            moves: artifact.moves().iter().map(|legal| legal.to.name.clone()).collect(),
        })
    }

    pub const fn is_finished(&self) -> bool {
        self.next.is_empty() && self.next_status.is_none()
    }

    /// `5/14, next: step-04-journeys`; of a status `draft, next: status → final`
    pub fn in_words(&self) -> String {
        let next: Vec<String> = match &self.next_status {
            Some(status) => vec![format!("status → {status}")],
            None => self.next.iter().map(|next| next.step.clone()).collect(),
        };
        let next =
            if next.is_empty() { "finished".to_owned() } else { format!("next: {}", next.join(" | ")) };
        format!("{}, {next}", self.progress_in_words())
    }

    /// `5/14`; of a status `draft`
    pub fn progress_in_words(&self) -> String {
        match &self.status {
            Some(status) if self.state.is_none() => status.clone(),
            _ => format!("{}/{}", self.done, self.total),
        }
    }
}

impl NextStep {
    fn of(step: &Step) -> Self {
        Self { step: step.name().to_owned(), file: step.path.clone() }
    }
}

impl NoResumePoint {
    /// The reason why `artifact`, which has no workflow, names no next step and no move.
    pub fn of(artifact: &TrackedArtifact) -> Self {
        match artifact.membership() {
            Membership::Ambiguous { candidates } => Self::Ambiguous { candidates: candidates.clone() },
            Membership::Missing { name } => Self::MissingWorkflow { name: name.clone() },
            _ if artifact.waits_for_import() => Self::NotImported,
            _ => match (
                artifact.lifecycle(),
                artifact.state().status.as_ref().and_then(|status| status.filled()),
            ) {
                (Some(choice), Some(status)) => Self::UnknownStatus {
                    status: status.to_owned(),
                    lifecycle: choice.lifecycle.name().to_owned(),
                },
                _ => Self::NoWorkflow,
            },
        }
    }

    pub const fn help(&self) -> &'static str {
        match self {
            Self::NoWorkflow => {
                "install the workflow, or declare one in `.stepmark/config.yaml` under `workflows`"
            }
            Self::Ambiguous { .. } => "bind it to one of them in `.stepmark/config.yaml`",
            Self::MissingWorkflow { .. } => "correct its name in `.stepmark/config.yaml`",
            Self::NotImported => "`stepmark import stories` takes it in",
            Self::UnknownStatus { .. } => {
                "`stepmark transition ARTIFACT STATE --force --reason TEXT` corrects it"
            }
            Self::NoSteps | Self::NothingMatches => "`stepmark show` lists the steps of its workflow",
        }
    }
}
