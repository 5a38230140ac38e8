//! The newest of what is remembered, with the graph around the artifacts that it is about. Bounded.

use std::{cmp::Reverse, collections::HashSet};

use stepmark_memory::{
    Memory, MemoryError, MemoryKind, MemoryRecord, NodeKind, draft::TOLD, store::Neighbourhood,
};
use stepmark_model::journal::Event;
use stepmark_store::workspace::Workspace;

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
