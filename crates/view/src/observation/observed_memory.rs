//! The newest of what is remembered, with the graph around the artifacts that it is about; bounded. And
//! records of systems that are shown whole: flows as graphs, slices by phase.

use std::{cmp::Reverse, collections::HashSet};

use stepmark_memory::{
    Memory, MemoryError, MemoryKind, MemoryRecord, NodeKind, draft::TOLD, store::Neighbourhood,
};
use stepmark_model::{artifact::ProjectPath, flows::FlowState, journal::Event};
use stepmark_store::{
    asdd::{Asdd, AsddStatus},
    flows::Flows,
    workspace::Workspace,
};

const DECISIONS: usize = 100;
const OTHERS: usize = 20;
const GRAPHS: usize = 20;
const NODES: usize = 60;

#[derive(Clone, Debug)]
pub struct ObservedMemory {
    /// The kinds of which there are records: decisions first.
    pub kinds: Vec<RememberedKind>,
    pub graphs: Vec<Neighbourhood>,
    /// The number of artifacts that the records above are about and that have no graph here.
    pub more_artifacts: usize,
}

#[derive(Clone, Debug)]
pub struct RememberedKind {
    pub kind: MemoryKind,
    /// The newest, each with the ids of those that took its place.
    pub newest: Vec<(MemoryRecord, Vec<String>)>,
    pub total: usize,
}

impl ObservedMemory {
    /// Returns whether something is remembered in a project that uses memory: its configuration says so, it
    /// was asked before, or one of its latest `events` was told to it. Another project pays nothing. Memory
    /// that cannot be read is there: its page says why.
    pub(super) fn is_there(workspace: &Workspace, events: &[Event]) -> bool {
        let is_used = workspace.configuration().uses_memory()
            || Memory::is_there(workspace)
            || events.iter().any(|event| event.kind.as_str() == TOLD);
        is_used && !Memory::open(workspace).and_then(|memory| memory.is_empty()).unwrap_or(false)
    }

    pub fn read(workspace: &Workspace) -> Result<Self, MemoryError> {
        let memory = Memory::open(workspace)?;
        let mut kinds = Vec::new();
        for kind in MemoryKind::all() {
            let most = if kind == MemoryKind::Decision { DECISIONS } else { OTHERS };
            let newest = memory.newest_of(kind, most)?;
            if !newest.is_empty() {
                kinds.push(RememberedKind { kind, newest, total: memory.count_of(kind)? });
            }
        }
        let names = artifacts(&kinds);
        let graphs =
            names.iter().take(GRAPHS).map(|name| around(&memory, name)).filter_map(Result::transpose);
        let graphs = graphs.collect::<Result<Vec<_>, _>>()?;
        let more_artifacts = names.len().saturating_sub(GRAPHS);
        Ok(Self { kinds, graphs, more_artifacts })
    }
}

fn artifacts(kinds: &[RememberedKind]) -> Vec<&str> {
    let records = kinds.iter().flat_map(|kind| &kind.newest).map(|(record, _)| record);
    let mut records: Vec<&MemoryRecord> = records.filter(|record| record.source.artifact.is_some()).collect();
    records.sort_by_key(|record| Reverse((record.created_at, &record.id)));
    let names = records.iter().filter_map(|record| {
        let source = &record.source;
        source.key.as_deref().or(source.artifact.as_deref())
    });
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

/// The nodes beside an artifact, and those beside the memories among them. `None` where memory does not know
/// the artifact.
fn around(memory: &Memory, name: &str) -> Result<Option<Neighbourhood>, MemoryError> {
    let mut found = match memory.neighbourhood(name, 2) {
        Err(MemoryError::NoNode { .. }) => return Ok(None),
        found => found?,
    };
    let near = found.nodes.iter().filter(|(node, _, steps)| *steps < 2 && node.kind == NodeKind::Memory);
    let near: HashSet<_> = near.map(|(node, ..)| node.clone()).collect();
    let ends = found.edges.iter().flat_map(|edge| [(&edge.from, &edge.to), (&edge.to, &edge.from)]);
    let beside: HashSet<_> =
        ends.filter(|(_, other)| near.contains(other)).map(|(one, _)| one.clone()).collect();
    found.nodes.retain(|(node, _, steps)| *steps < 2 || beside.contains(node));
    found.is_cut |= found.nodes.len() > NODES;
    found.nodes.truncate(NODES);
    let kept: HashSet<_> = found.nodes.iter().map(|(node, ..)| node).collect();
    found.edges.retain(|edge| kept.contains(&edge.from) && kept.contains(&edge.to));
    Ok(Some(found))
}

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
