//! The shapes of JSON output. Each is part of a schema with a version: fields are added, never renamed or removed, under
//! the same version.

use serde::Serialize;
use stepmark_model::{
    check::{Finding, Severity},
    tracked_artifact::{Membership, TrackedArtifact},
    workflow::{Next, Progress, Step},
};

/// One artifact in `stepmark.status/1` and `stepmark.show/1`.
#[derive(Debug, Serialize)]
pub(crate) struct ArtifactWire {
    path: String,
    title: Option<String>,
    id: Option<String>,
    workflow: Option<String>,
    track: Option<String>,
    /// Names of the workflows that fit where none can be singled out.
    workflow_candidates: Vec<String>,
    steps_completed: Vec<String>,
    done: Option<usize>,
    total: Option<usize>,
    standing: Option<&'static str>,
    next: Vec<StepWire>,
    alternatives: Vec<StepWire>,
    status: Option<String>,
    scope: Option<String>,
    problems: ProblemCounts,
}

/// What comes next, in `stepmark.next/2` and `stepmark.change/1`. Agents ask often, and pay for each character.
#[derive(Debug, Serialize)]
pub(crate) struct NextWire {
    workflow: Option<String>,
    done: Option<usize>,
    total: Option<usize>,
    standing: Option<&'static str>,
    next: Vec<StepWire>,
    alternatives: Vec<StepWire>,
    status: Option<String>,
}

impl NextWire {
    pub(crate) fn new(artifact: &TrackedArtifact) -> Self {
        let ArtifactWire { workflow, done, total, standing, next, alternatives, status, .. } =
            ArtifactWire::new(artifact, ProblemCounts::default());
        Self { workflow, done, total, standing, next, alternatives, status }
    }
}

/// A step to go on with.
#[derive(Debug, Serialize)]
pub(crate) struct StepWire {
    id: String,
    file: Option<String>,
}

/// How many findings of each severity an artifact has.
#[derive(Clone, Copy, Debug, Default, Serialize, PartialEq, Eq)]
pub(crate) struct ProblemCounts {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) notes: usize,
}

impl ProblemCounts {
    pub(crate) fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            match finding.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Note => counts.notes += 1,
            }
        }
        counts
    }
}

impl From<&Step> for StepWire {
    fn from(step: &Step) -> Self {
        Self { id: step.name().to_owned(), file: step.path.as_ref().map(ToString::to_string) }
    }
}

impl ArtifactWire {
    pub(crate) fn new(artifact: &TrackedArtifact, problems: ProblemCounts) -> Self {
        let state = artifact.state();
        let progress = artifact.progress();
        let workflow = artifact.workflow();
        let candidates = match artifact.membership() {
            Membership::Ambiguous { candidates } => candidates.clone(),
            _ => Vec::new(),
        };
        let filled = |field: &Option<stepmark_model::artifact::Field>| {
            field.as_ref().and_then(|field| field.filled()).map(str::to_owned)
        };
        Self {
            path: artifact.path().to_string(),
            title: filled(&state.title),
            id: filled(&state.id).or_else(|| filled(&state.stepmark_id)),
            workflow: workflow.map(|workflow| workflow.name.clone()),
            track: workflow.map(|workflow| workflow.chain.track().to_string()),
            workflow_candidates: candidates,
            steps_completed: artifact.steps().completed().iter().map(ToString::to_string).collect(),
            done: progress.as_ref().map(|progress| progress.done_units),
            total: progress.as_ref().map(|progress| progress.total),
            standing: progress.as_ref().map(|progress| progress.state.as_str()),
            next: progress.as_ref().map(next).unwrap_or_default(),
            alternatives: progress.as_ref().map(alternatives).unwrap_or_default(),
            status: filled(&state.status),
            scope: state.scope().map(|scope| scope.to_string()),
            problems,
        }
    }
}

fn next(progress: &Progress<'_>) -> Vec<StepWire> {
    match &progress.next {
        Next::Step { step, .. } => vec![StepWire::from(*step)],
        Next::Choice(steps) => steps.iter().copied().map(StepWire::from).collect(),
        Next::Finished | Next::Unknown(_) => Vec::new(),
    }
}

fn alternatives(progress: &Progress<'_>) -> Vec<StepWire> {
    match &progress.next {
        Next::Step { alternatives, .. } => alternatives.iter().copied().map(StepWire::from).collect(),
        _ => Vec::new(),
    }
}
