//! New records, as commands make them.

use serde_json::json;

use super::{Acting, FlowKind, FlowRecord, Graph, RecordChange, TaskDefinition};

/// The record of a graph that may still change.
pub fn graph_record(graph: &Graph, acting: &Acting) -> FlowRecord {
    let values = json!({
        // A version is a record of its own: no other record of the project has its id.
        "id": format!("{}@v{}", graph.id, graph.version),
        "graph": graph.id,
        "title": graph.title,
        "version": graph.version,
        "status": "DRAFT",
        "created_by": acting.actor,
        "created_at": acting.now,
        "tasks": graph.tasks,
    });
    FlowRecord::new(FlowKind::Graph, values)
}

/// A graph of which a flow is made: it never changes again.
pub fn freeze(graph: &FlowRecord) -> RecordChange {
    let mut after = graph.clone();
    after.set("status", "FROZEN");
    RecordChange::new(graph, after, "graph-frozen")
}

/// The record of a new flow of a graph.
pub fn flow_record(id: &str, title: &str, graph: &Graph, acting: &Acting) -> FlowRecord {
    let tasks: Vec<String> = graph.tasks.iter().map(|task| format!("{id}.{}", task.id)).collect();
    let values = json!({
        "id": id,
        "title": title,
        "graph": graph.id,
        "graph_version": graph.version,
        "graph_digest": graph.digest(),
        "status": "CREATED",
        "created_at": acting.now,
        "paused_at": [],
        "resumed_at": [],
        "tasks": tasks,
        "human_actions": [],
    });
    FlowRecord::new(FlowKind::Flow, values)
}

/// The record of a task of the flow `flow`.
pub fn execution_record(flow: &str, task: &TaskDefinition) -> FlowRecord {
    let depends_on: Vec<String> = task.depends_on.iter().map(|id| format!("{flow}.{id}")).collect();
    let values = json!({
        "id": format!("{flow}.{}", task.id),
        "flow": flow,
        "task": task.id,
        "title": if task.title.is_empty() { &task.id } else { &task.title },
        "status": "PENDING",
        "depends_on": depends_on,
        "required_scopes": task.required_scopes,
        "max_attempts": task.retry.max_attempts,
        "attempt_count": 0,
        "attempts": [],
        "verifications": [],
        "human_actions": [],
    });
    FlowRecord::new(FlowKind::Execution, values)
}
