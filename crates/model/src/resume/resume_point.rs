//! The point of a workflow that a state leads to.

use serde::Serialize;

use crate::{
    artifact::ProjectPath,
    tracked_artifact::{Membership, TrackedArtifact},
    workflow::{Next, Step, WorkState},
};

/// The progress of a state, and its next steps; the same in the JSON of `resume`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResumePoint {
    /// The state of the workflow as a whole; `None` where a status is all that is known.
    #[serde(rename = "work_state")]
    pub state: Option<WorkState>,
    pub finished: bool,
    pub done: Option<usize>,
    pub total: Option<usize>,
    /// The states that its lifecycle lets its status go to.
    pub moves: Vec<String>,
    pub status: Option<String>,
    pub steps_completed: Vec<String>,
    /// The next steps: one, or several to choose from; none when the work is finished.
    pub next: Vec<NextStep>,
    /// The steps that may be done instead, in special cases.
    pub alternatives: Vec<NextStep>,
    /// The state that its status goes to next, where it has no workflow.
    #[serde(skip)]
    pub next_status: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextStep {
    #[serde(rename = "id")]
    pub step: String,
    /// The file to read for it; `None` for a declared step.
    pub file: Option<ProjectPath>,
}

/// The reason why a state names no next step and no move, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NoResumePoint {
    pub reason: String,
    pub help: &'static str,
}

impl ResumePoint {
    /// The outlook of a state whose workflow is known, or the lifecycle of its status.
    pub fn of(artifact: &TrackedArtifact) -> Result<Self, NoResumePoint> {
        let progress = artifact.progress();
        let steps = |steps: &[&Step]| steps.iter().copied().map(NextStep::of).collect();
        let (next, alternatives): (Vec<_>, Vec<_>) = match progress.as_ref().map(|progress| &progress.next) {
            Some(Next::Step { step, alternatives }) => (steps(&[step]), steps(alternatives)),
            Some(Next::Choice(choice)) => (steps(choice), Vec::new()),
            Some(Next::Unknown(unknown)) => {
                let help = "`stepmark show` lists the steps of its workflow";
                return Err(NoResumePoint { reason: unknown.to_string(), help });
            }
            None if artifact.lifecycle_state().is_none() => return Err(NoResumePoint::of(artifact)),
            Some(Next::Finished) | None => (Vec::new(), Vec::new()),
        };
        let is_open = progress.is_none() && artifact.has_work_left();
        let next_status = artifact.next_state().filter(|_| is_open).map(|state| state.name.clone());
        Ok(Self {
            state: progress.as_ref().map(|progress| progress.state),
            finished: next.is_empty() && next_status.is_none(),
            done: progress.as_ref().map(|progress| progress.done_units),
            total: progress.as_ref().map(|progress| progress.total),
            moves: artifact.moves().iter().map(|legal| legal.to.name.clone()).collect(),
            status: filled_status(artifact).map(str::to_owned),
            steps_completed: artifact.steps().completed().iter().map(ToString::to_string).collect(),
            next,
            alternatives,
            next_status,
        })
    }

    /// `5/14, next: step-04-journeys`; of a status `draft, next: status → final`
    pub fn in_words(&self) -> String {
        let next: Vec<&str> = self.next.iter().map(|next| next.step.as_str()).collect();
        let next = match &self.next_status {
            Some(status) => format!("next: status → {status}"),
            None if next.is_empty() => "finished".to_owned(),
            None => format!("next: {}", next.join(" | ")),
        };
        format!("{}, {next}", self.progress_in_words())
    }

    /// `5/14`; of a status `draft`
    pub fn progress_in_words(&self) -> String {
        match &self.status {
            Some(status) if self.state.is_none() => status.clone(),
            _ => format!("{}/{}", self.done.unwrap_or_default(), self.total.unwrap_or_default()),
        }
    }
}

impl NextStep {
    fn of(step: &Step) -> Self {
        Self { step: step.name().to_owned(), file: step.path.clone() }
    }
}

impl NoResumePoint {
    pub const NOT_IMPORTED: &'static str = "`stepmark import stories` takes it in";

    /// The reason why `artifact`, which has no workflow, names no next step and no move.
    pub fn of(artifact: &TrackedArtifact) -> Self {
        let (reason, help) = match (artifact.membership(), artifact.lifecycle(), filled_status(artifact)) {
            (Membership::Ambiguous { candidates }, ..) => (
                format!("several workflows fit: {}", candidates.join(", ")),
                "bind it to one of them in `.stepmark/config.yaml`",
            ),
            (Membership::Missing { name }, ..) => (
                format!("the configuration names the workflow `{name}`, and there is none"),
                "correct its name in `.stepmark/config.yaml`",
            ),
            _ if artifact.waits_for_import() => (
                "it is a story that is not imported yet: its frontmatter has no status".to_owned(),
                Self::NOT_IMPORTED,
            ),
            (_, Some(choice), Some(status)) => (
                format!("its status `{status}` is no state of the lifecycle `{}`", choice.lifecycle.name()),
                "`stepmark transition ARTIFACT STATE --force --reason TEXT` corrects it",
            ),
            _ => (
                "no workflow of the project fits".to_owned(),
                "install the workflow, or declare one in `.stepmark/config.yaml` under `workflows`",
            ),
        };
        Self { reason, help }
    }
}

fn filled_status(artifact: &TrackedArtifact) -> Option<&str> {
    artifact.state().status.as_ref().and_then(|status| status.filled())
}
