//! JSON output. Under the same schema version, fields are added, never renamed or removed.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use stepmark_model::{
    check::ProblemCounts,
    summary::{ArtifactSummary, StepName, WorkflowName},
    tracked_artifact::TrackedArtifact,
};

/// Something whose form is described elsewhere: its schema accepts everything.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Open<T>(pub(crate) T);

impl<T> JsonSchema for Open<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "open".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}

/// One artifact in `stepmark.status/2` and `stepmark.show/2`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ArtifactWire {
    path: String,
    /// For records of a system.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    title: Option<String>,
    id: Option<String>,
    workflow: Option<String>,
    track: Option<String>,
    workflow_candidates: Vec<String>,
    steps_completed: Vec<String>,
    done: Option<usize>,
    total: Option<usize>,
    work_state: Option<&'static str>,
    next: Vec<StepWire>,
    alternatives: Vec<StepWire>,
    status: Option<String>,
    scope: Option<String>,
    problems: ProblemCounts,
}

/// The next steps, in `stepmark.next/3` and `stepmark.change/2`. Agents ask often, and pay for each
/// character.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NextWire {
    workflow: Option<String>,
    done: Option<usize>,
    total: Option<usize>,
    work_state: Option<&'static str>,
    next: Vec<StepWire>,
    alternatives: Vec<StepWire>,
    status: Option<String>,
    moves: Vec<String>,
}

impl NextWire {
    pub(crate) fn new(artifact: &TrackedArtifact) -> Self {
        let moves = artifact.moves().iter().map(|legal| legal.to.name.clone()).collect();
        let ArtifactWire { workflow, done, total, work_state, next, alternatives, status, .. } =
            ArtifactWire::new(&ArtifactSummary::of(artifact), ProblemCounts::default());
        Self { workflow, done, total, work_state, next, alternatives, status, moves }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StepWire {
    id: String,
    file: Option<String>,
}

impl From<&StepName<'_>> for StepWire {
    fn from(step: &StepName<'_>) -> Self {
        Self { id: step.name.to_owned(), file: step.file.map(str::to_owned) }
    }
}

impl ArtifactWire {
    pub(crate) fn titled(self, title: Option<String>) -> Self {
        Self { title, ..self }
    }

    pub(crate) fn new(summary: &ArtifactSummary<'_>, problems: ProblemCounts) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let all = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let steps = |steps: &[StepName<'_>]| steps.iter().map(StepWire::from).collect();
        let progress = summary.progress.as_ref();
        let (track, candidates) = match &summary.workflow {
            WorkflowName::Known(_, track) => (Some(track.to_string()), Vec::new()),
            WorkflowName::Ambiguous(candidates) => (None, all(candidates)),
            WorkflowName::Missing(_) | WorkflowName::Unknown => (None, Vec::new()),
        };
        Self {
            path: summary.path.to_string(),
            kind: summary.kind.map(|kind| kind.name.as_str()),
            title: owned(summary.title),
            id: owned(summary.id),
            workflow: owned(summary.workflow.known()),
            track,
            workflow_candidates: candidates,
            steps_completed: all(&summary.completed),
            done: progress.map(|progress| progress.done),
            total: progress.map(|progress| progress.total),
            work_state: progress.map(|progress| progress.state.as_str()),
            next: progress.map(|progress| steps(progress.next.steps())).unwrap_or_default(),
            alternatives: progress.map(|progress| steps(progress.next.alternatives())).unwrap_or_default(),
            status: owned(summary.status),
            scope: summary.scope().map(|scope| scope.to_string()),
            problems,
        }
    }
}
