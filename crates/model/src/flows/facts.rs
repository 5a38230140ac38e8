//! The facts about flows that their records are held against.

use super::{FlowRecord, FlowState};

/// The flows of a project.
#[derive(Clone, Debug, Default)]
pub struct FlowFacts {
    /// Each flow that can be read, with its graph and its executions.
    pub flows: Vec<FlowState>,
}

impl FlowFacts {
    /// The flow that `record` is, or belongs to.
    pub(crate) fn of(&self, record: &FlowRecord) -> Option<&FlowState> {
        let id = if record.task().is_empty() { record.id() } else { record.text("flow") };
        self.flows.iter().find(|state| state.flow.id() == id)
    }
}
