//! Format C: the state of an orchestrator in one file, whose model refuses and drops values.

use serde_json::{Map, Value as Json};

use super::{
    Files, FormatError,
    orchestrator_task::{Kind, held_record, read_task, task},
    server_state::{discovery, read_state},
    source::{Source, add_extra, to_bytes},
    tasks_file::agent,
};
use crate::{
    coordination::State,
    records::{Signals, read_time},
};

/// The file, as the orchestrator calls it where nothing else is configured.
pub(super) const FILE: &str = "orchestrator-state.json";

/// The keys of the coordination that stand in the file.
const ROOT: [&str; 5] =
    ["goal", "created_at", "working_directory", "max_parallel_workers", "task_timeout_seconds"];

/// The keys of an agent in the orchestrator's model: it drops others.
const AGENT: [(&str, Kind); 10] = [
    ("id", Kind::Text),
    ("role", Kind::Role),
    ("is_active", Kind::Any),
    ("current_task", Kind::OptionalText),
    ("pid", Kind::Any),
    ("last_heartbeat", Kind::Time),
    ("metrics", Kind::Any),
    ("working_directory", Kind::Text),
    ("model", Kind::Text),
    ("max_concurrent_tasks", Kind::Any),
];

/// The keys of a discovery in that model.
const DISCOVERY: [(&str, Kind); 6] = [
    ("id", Kind::Text),
    ("agent_id", Kind::Text),
    ("content", Kind::Text),
    ("tags", Kind::Texts),
    ("related_task", Kind::OptionalText),
    ("created_at", Kind::Time),
];

pub(super) fn render(state: &State, signals: &Signals, now: &str) -> Files {
    let root = &state.root;
    let mut file = Map::new();
    file.insert("goal".to_owned(), root.text("goal").unwrap_or_default().into());
    file.insert("master_plan".to_owned(), root.body.as_str().into());
    let directory = root.text("working_directory").unwrap_or(".");
    file.insert("working_directory".to_owned(), directory.into());
    file.insert("tasks".to_owned(), state.tasks.iter().map(task).collect());
    let held =
        |record| held_record(&AGENT, &["role"], agent(record, "last_heartbeat", &[], (state, signals)));
    let agents = state.agents.iter().map(|record| (record.id.clone(), held(record)));
    file.insert("agents".to_owned(), Json::Object(agents.collect()));
    let discoveries = state.discoveries.iter();
    let discoveries = discoveries.map(|record| held_record(&DISCOVERY, &["agent_id"], discovery(record)));
    file.insert("discoveries".to_owned(), discoveries.collect());
    if let Some(created) = root.text("created_at").filter(|text| read_time(text).is_some()) {
        file.insert("created_at".to_owned(), created.into());
    }
    file.insert("last_activity".to_owned(), now.into());
    for (key, usual) in [("max_parallel_workers", 3), ("task_timeout_seconds", 600)] {
        file.insert(key.to_owned(), root.number(key).unwrap_or(usual).into());
    }
    add_extra(state, FILE, &mut file);
    Files::from([(FILE.to_owned(), to_bytes(&file))])
}

pub(super) fn read(files: &Files) -> Result<State, FormatError> {
    let mut source = Source::read(files, FILE)?;
    let mut state = read_state(&mut source)?;
    state.tasks.iter_mut().for_each(read_task);
    source.into_root(&ROOT, &mut state.root);
    Ok(state)
}
