//! The steps of a workflow as a row of cells.

use stepmark_model::{
    tracked_artifact::TrackedArtifact,
    workflow::{Next, Progress, Step, Unit},
};

/// The steps of an artifact's workflow, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepBar {
    /// How many units are done; at most `total`.
    pub done: usize,
    /// How many there are.
    pub total: usize,
    /// One cell for each unit of the route.
    pub cells: Vec<StepCell>,
}

/// A unit of progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCell {
    /// The step; alternatives are joined with ` | `.
    pub name: String,
    /// Where it stands.
    pub state: CellState,
}

/// Where a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellState {
    /// Done.
    Done,
    /// Marked as skipped, which counts as done.
    Skipped,
    /// What comes next.
    Next,
    /// Before the furthest done one, and not listed though it should be.
    Gap,
    /// Before the furthest done one, and rightly not listed.
    Passed,
    /// To come.
    Open,
}

impl CellState {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Skipped => "skipped",
            Self::Next => "next",
            Self::Gap => "missing",
            Self::Passed => "passed",
            Self::Open => "open",
        }
    }
}

impl StepBar {
    /// The bar of `artifact`; `None` where its workflow is unknown.
    pub fn of(artifact: &TrackedArtifact) -> Option<Self> {
        let (workflow, progress) = (artifact.workflow()?, artifact.progress()?);
        let cells = workflow.chain.units().map(|unit| cell(&unit, &progress)).collect();
        Some(Self { done: progress.done_units, total: progress.total, cells })
    }
}

fn cell(unit: &Unit<'_>, progress: &Progress<'_>) -> StepCell {
    let members: &[&Step] = match unit {
        Unit::Step(step) => std::slice::from_ref(step),
        Unit::Choice(steps) => steps,
    };
    let name = members.iter().map(|step| step.name()).collect::<Vec<_>>().join(" | ");
    let is_among =
        |steps: &[&Step]| steps.iter().any(|step| members.iter().any(|own| std::ptr::eq(*own, *step)));
    let done = progress.done.iter().find(|item| is_among(&item.steps));
    let is_next = match &progress.next {
        Next::Step { step, .. } => is_among(&[*step]),
        Next::Choice(steps) => is_among(steps),
        Next::Finished | Next::Unknown(_) => false,
    };
    let state = match done {
        Some(item) if item.skipped => CellState::Skipped,
        Some(_) => CellState::Done,
        None if is_next => CellState::Next,
        None if is_among(&progress.gaps) => CellState::Gap,
        None if is_among(&progress.passed) => CellState::Passed,
        None => CellState::Open,
    };
    StepCell { name, state }
}
