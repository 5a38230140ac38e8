//! The steps of a workflow as a row of cells.

use stepmark_model::summary::{CellState, ProgressSummary};

/// The steps of an artifact's workflow, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepBar {
    /// The number of units that are done; at most `total`.
    pub done: usize,
    pub total: usize,
    pub cells: Vec<StepCell>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCell {
    /// The step; alternatives are joined with ` | `.
    pub name: String,
    pub state: CellState,
}

impl StepBar {
    pub fn of(progress: &ProgressSummary<'_>) -> Self {
        let cells = progress.units.iter().map(|(name, state)| StepCell { name: name.to_owned(), state });
        Self { done: progress.done, total: progress.total, cells: cells.collect() }
    }
}
