//! A flow for tests.

use serde_json::json;

use super::{Acting, FlowKind, FlowRecord, FlowState, Graph, execution_record, flow_record};

pub(super) fn person() -> Acting {
    acting("human:Ada")
}

pub(super) fn agent() -> Acting {
    acting("agent:v")
}

pub(super) fn acting(actor: &str) -> Acting {
    Acting { actor: actor.to_owned(), now: "2026-11-25T12:00:00Z".to_owned(), reason: None }
}

/// A running flow `f` of four tasks: `a`, then `b` and `c`, which write the same, then `d`.
pub(super) fn state() -> FlowState {
    let check = json!([{"name": "tests", "command": "make test"}]);
    let graph = Graph::read(&json!({"id": "g", "tasks": [
        {"id": "a", "checks": check, "retry": {"max_attempts": 2}},
        {"id": "b", "depends_on": ["a"], "required_scopes": {"write": ["src"]}},
        {"id": "c", "depends_on": ["a"], "required_scopes": {"write": ["src/c.rs"]}},
        {"id": "d", "depends_on": ["b", "c"], "retry": {"max_attempts": 3, "on": ["crash"], "escalate": true}},
    ]}))
    .unwrap();
    graph.check().unwrap();
    let mut flow = flow_record("f", "Flow", &graph, &person());
    flow.set("status", "RUNNING");
    let tasks = graph.tasks.iter().map(|task| execution_record("f", task)).collect();
    FlowState { flow, graph, tasks }
}

pub(super) fn after(state: &FlowState, record: FlowRecord) -> FlowState {
    let mut state = state.clone();
    if record.values()[crate::artifact::KIND_KEY] == FlowKind::Flow.name() {
        state.flow = record;
    } else if let Some(own) = state.tasks.iter_mut().find(|own| own.id() == record.id()) {
        *own = record;
    }
    state
}
