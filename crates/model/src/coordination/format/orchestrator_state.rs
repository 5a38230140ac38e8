//! Format C: the state of an orchestrator in one file, whose model refuses and drops values.

use serde_json::{Map, Value as Json};

use super::{
    Files, FormatError,
    orchestrator_task::{read_task, task},
    server_state::{discovery, read_state},
    source::{Source, add_extra, to_bytes},
    tasks_file::agent,
};
use crate::coordination::{Record, Signals, State, kind::in_order, values::read_time};

/// The file, as the orchestrator calls it where nothing else is configured.
pub(super) const FILE: &str = "orchestrator-state.json";

/// The keys of the coordination that stand in the file.
const ROOT: [&str; 5] =
    ["goal", "created_at", "working_directory", "max_parallel_workers", "task_timeout_seconds"];

/// The roles that the orchestrator knows.
const ROLES: [&str; 3] = ["leader", "worker", "specialist"];

/// The keys of an agent in the orchestrator's model: it drops others.
const AGENT: [&str; 10] = [
    "id",
    "role",
    "is_active",
    "current_task",
    "pid",
    "last_heartbeat",
    "metrics",
    "working_directory",
    "model",
    "max_concurrent_tasks",
];

/// The keys of a discovery in that model.
const DISCOVERY: [&str; 6] = ["id", "agent_id", "content", "tags", "related_task", "created_at"];

pub(super) fn render(state: &State, signals: &Signals, now: &str) -> Files {
    let root = &state.root;
    let mut file = Map::new();
    file.insert("goal".to_owned(), root.text("goal").unwrap_or_default().into());
    file.insert("master_plan".to_owned(), root.body.as_str().into());
    let directory = root.text("working_directory").unwrap_or(".");
    file.insert("working_directory".to_owned(), directory.into());
    file.insert("tasks".to_owned(), state.tasks.iter().map(task).collect());
    let agents = state.agents.iter().map(|record| (record.id.clone(), held_agent(record, signals)));
    file.insert("agents".to_owned(), Json::Object(agents.collect()));
    file.insert("discoveries".to_owned(), state.discoveries.iter().map(held_discovery).collect());
    if let Some(created) = time_text(root, "created_at") {
        file.insert("created_at".to_owned(), created.into());
    }
    file.insert("last_activity".to_owned(), now.into());
    for (key, usual) in [("max_parallel_workers", 3), ("task_timeout_seconds", 600)] {
        file.insert(key.to_owned(), root.number(key).unwrap_or(usual).into());
    }
    add_extra(state, FILE, &mut file);
    Files::from([(FILE.to_owned(), to_bytes(file))])
}

/// An agent as the model holds it.
fn held_agent(record: &Record, signals: &Signals) -> Json {
    let mut values = agent(record, "last_heartbeat", &AGENT, signals);
    values.retain(|key, _| AGENT.contains(&key.as_str()));
    if !record.text("role").is_some_and(|role| ROLES.contains(&role)) {
        values.insert("role".to_owned(), "worker".into());
    }
    if values.get("current_task").is_some_and(|task| !task.is_string()) {
        values.insert("current_task".to_owned(), Json::Null);
    }
    if values.get("last_heartbeat").and_then(Json::as_str).and_then(read_time).is_none() {
        values.shift_remove("last_heartbeat");
    }
    in_order(&AGENT, &values).into()
}

/// A discovery as the model holds it.
fn held_discovery(record: &Record) -> Json {
    let Json::Object(mut values) = discovery(record) else { return Json::Null };
    values.retain(|key, _| DISCOVERY.contains(&key.as_str()));
    values.insert("agent_id".to_owned(), record.text("agent_id").unwrap_or_default().into());
    values.insert("tags".to_owned(), record.texts("tags").into());
    if time_text(record, "created_at").is_none() {
        values.shift_remove("created_at");
    }
    if values.get("related_task").is_some_and(|task| !task.is_string()) {
        values.insert("related_task".to_owned(), Json::Null);
    }
    in_order(&DISCOVERY, &values).into()
}

/// The text under `key` where it is a time.
fn time_text<'r>(record: &'r Record, key: &str) -> Option<&'r str> {
    record.text(key).filter(|text| read_time(text).is_some())
}

pub(super) fn read(files: &Files) -> Result<State, FormatError> {
    let mut source = Source::read(files, FILE)?;
    let mut state = read_state(&mut source)?;
    state.tasks.iter_mut().for_each(read_task);
    source.into_root(&ROOT, &mut state.root);
    Ok(state)
}
