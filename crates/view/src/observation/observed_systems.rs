//! Records of systems that are shown whole: flows as graphs, slices by phase.

use stepmark_model::{artifact::ProjectPath, flows::FlowState};
use stepmark_store::{
    asdd::{Asdd, AsddStatus},
    flows::Flows,
    workspace::Workspace,
};

/// The systems of a project that are shown whole. A record that cannot be read is left out: the findings tell
/// of it.
#[derive(Clone, Debug, Default)]
pub struct ObservedSystems {
    /// The flows, in the order of their ids.
    pub flows: Vec<ObservedFlow>,
    pub asdd: Option<ObservedSlices>,
}

#[derive(Clone, Debug)]
pub struct ObservedFlow {
    pub path: ProjectPath,
    /// The artifacts of its executions, in the order of the tasks of the graph.
    pub task_paths: Vec<ProjectPath>,
    pub state: FlowState,
}

/// The slices of ASDD, and where their records stand.
#[derive(Clone, Debug)]
pub struct ObservedSlices {
    /// The artifacts of the slices, in their order.
    pub paths: Vec<ProjectPath>,
    /// The records, as `stepmark asdd status` shows them.
    pub status: AsddStatus,
}

impl ObservedSystems {
    pub(super) fn of(workspace: &Workspace) -> Self {
        let flows = workspace.flows();
        let seen = flows.iter().flat_map(|flows| flows.ids().into_iter().filter_map(|id| flow(flows, &id)));
        Self { flows: seen.collect(), asdd: workspace.asdd().and_then(|asdd| slices(&asdd)) }
    }
}

fn flow(flows: &Flows<'_>, id: &str) -> Option<ObservedFlow> {
    let state = flows.state(id).ok()?;
    let paths = state.graph.tasks.iter().map(|task| flows.task_path(id, &task.id).ok());
    Some(ObservedFlow { path: flows.flow_path(id).ok()?, task_paths: paths.collect::<Option<_>>()?, state })
}

fn slices(asdd: &Asdd<'_>) -> Option<ObservedSlices> {
    let status = asdd.status().ok()?;
    let path = |slice: &stepmark_model::asdd::Record| asdd.path_of(slice.kind, &slice.id).ok();
    Some(ObservedSlices { paths: status.state.slices.iter().map(path).collect::<Option<_>>()?, status })
}
