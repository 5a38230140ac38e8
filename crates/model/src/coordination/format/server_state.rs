//! Format B: a server's state in one file.

use serde_json::{Map, Value as Json};

use super::{
    Files, FormatError,
    source::{Source, add_extra, new_root, to_bytes},
    tasks_file::agent,
};
use crate::{
    coordination::{Record, RecordKind, State, state::Places},
    records::{Signals, in_order, ordered},
};

pub(super) const FILE: &str = "mcp-state.json";

type Usual = (&'static str, fn() -> Json);

/// Mandatory keys of a task with defaults: the server reads texts, numbers and lists without checks.
const TASK: [Usual; 10] = [
    ("description", || "".into()),
    ("status", || "available".into()),
    ("priority", || 5.into()),
    ("claimed_by", || Json::Null),
    ("dependencies", || Json::Array(Vec::new())),
    ("context", || Json::Null),
    ("result", || Json::Null),
    ("created_at", || Json::Null),
    ("claimed_at", || Json::Null),
    ("completed_at", || Json::Null),
];

const AGENT: [Usual; 3] =
    [("role", || "worker".into()), ("current_task", || Json::Null), ("tasks_completed", || 0.into())];

pub(super) fn render(state: &State, signals: &Signals, now: &str) -> Files {
    let root = &state.root;
    let mut file = Map::new();
    file.insert("master_plan".to_owned(), root.body.as_str().into());
    file.insert("goal".to_owned(), root.text("goal").unwrap_or_default().into());
    file.insert("tasks".to_owned(), state.tasks.iter().map(task).collect());
    let keys = ["id", "role", "last_heartbeat", "current_task", "tasks_completed"];
    let agents = state.agents.iter();
    let agents = agents.map(|record| {
        let mut agent = agent(record, "last_heartbeat", &keys, (state, signals));
        fill(&mut agent, &AGENT);
        (record.id.clone(), in_order(&keys, &agent).into())
    });
    file.insert("agents".to_owned(), Json::Object(agents.collect()));
    file.insert(
        "discoveries".to_owned(),
        state.discoveries.iter().map(discovery).map(Json::Object).collect(),
    );
    file.insert("created_at".to_owned(), root.values.get("created_at").cloned().unwrap_or_default());
    file.insert("last_activity".to_owned(), now.into());
    add_extra(state, FILE, &mut file);
    Files::from([(FILE.to_owned(), to_bytes(&file))])
}

fn task(record: &Record) -> Json {
    let mut values = record.values.clone();
    values.insert("id".to_owned(), record.id.as_str().into());
    fill(&mut values, &TASK);
    in_order(&["id"], &ordered(record.kind, &values)).into()
}

fn fill(values: &mut Map<String, Json>, keys: &[Usual]) {
    for (key, usual) in keys {
        let value = values.entry(*key).or_insert(Json::Null);
        if value.is_null() {
            *value = usual();
        }
    }
}

pub(super) fn discovery(record: &Record) -> Map<String, Json> {
    let mut values = record.values.clone();
    values.insert("id".to_owned(), record.id.as_str().into());
    values.insert("content".to_owned(), record.body.as_str().into());
    in_order(&["id", "agent_id", "content", "tags", "created_at"], &values)
}

pub(super) fn read(files: &Files) -> Result<State, FormatError> {
    let mut source = Source::read(files, FILE)?;
    read_state(&mut source).map(|mut state| {
        source.into_root(&["goal", "created_at"], &mut state.root);
        state
    })
}

pub(super) fn read_state(source: &mut Source) -> Result<State, FormatError> {
    Ok(State {
        root: new_root(source.text("master_plan")?.unwrap_or_default()),
        tasks: source.records("tasks", RecordKind::Task)?,
        agents: source.records("agents", RecordKind::Agent)?,
        discoveries: source.records("discoveries", RecordKind::Discovery)?,
        places: Places::default(),
    })
}
