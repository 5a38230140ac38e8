//! Format A: tasks and agents in one file each, plan and results as Markdown.

use super::source::{Source, UNKNOWN_TIME, add_extra, new_root, to_bytes};
use super::{Files, FormatError, file_stem};
use crate::coordination::{Record, RecordKind, State, is_done, state::Places};
use crate::records::{RecordKinds as _, Signals, VOLATILE, entries_in_order, in_order};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Map, Value as Json};

pub(super) const TASKS: &str = "tasks.json";

const LIST: &str = "tasks";

pub(super) const AGENTS: &str = "agents.json";

pub(super) const PLAN: &str = "master-plan.md";

pub(super) fn render(state: &State, signals: &Signals, now: &str) -> Files {
    let mut file = Map::new();
    for key in ["version", "created_at"] {
        if let Some(value) = state.root.values.get(key) {
            file.insert(key.to_owned(), value.clone());
        }
    }
    file.insert("last_updated".to_owned(), now.into());
    file.insert(LIST.to_owned(), Json::Null);
    add_extra(state, TASKS, &mut file);
    let file = TasksFile { keys: &file, tasks: &state.tasks };
    let keys = ["id", "capabilities", "registered_at", "last_seen"];
    let written = |record| {
        let mut agent = agent(record, "last_seen", &keys, (state, signals));
        if let Some(list) = agent.get("capabilities").filter(|own| own.is_array()) {
            let words = list.as_array().into_iter().flatten().filter_map(Json::as_str);
            agent.insert("capabilities".to_owned(), words.collect::<Vec<_>>().join(", ").into());
        }
        Json::Object(agent)
    };
    let mut agents = Map::new();
    agents.insert("agents".to_owned(), state.agents.iter().map(written).collect());
    add_extra(state, AGENTS, &mut agents);
    let mut files =
        Files::from([(TASKS.to_owned(), to_bytes(&file)), (AGENTS.to_owned(), to_bytes(&agents))]);
    if !state.root.body.is_empty() {
        files.insert(PLAN.to_owned(), state.root.body.clone().into_bytes());
    }
    files
}

/// Serialises without copying tasks.
struct TasksFile<'s> {
    /// The list's key is empty here.
    keys: &'s Map<String, Json>,
    tasks: &'s [Record],
}

impl Serialize for TasksFile<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut file = serializer.serialize_map(Some(self.keys.len()))?;
        for (key, value) in self.keys {
            match key.as_str() {
                LIST => file.serialize_entry(key, &self.tasks.iter().map(Task).collect::<Vec<_>>())?,
                _ => file.serialize_entry(key, value)?,
            }
        }
        file.end()
    }
}

struct Task<'s>(&'s Record);

impl Serialize for Task<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Record { kind, id, values, .. } = self.0;
        let mut task = serializer.serialize_map(None)?;
        task.serialize_entry("id", id)?;
        for (key, value) in entries_in_order(kind.keys(), values) {
            match (kind.inner_keys(key), value) {
                (Some(keys), Json::Object(inner)) => task.serialize_entry(key, &InOrder(keys, inner))?,
                _ => task.serialize_entry(key, value)?,
            }
        }
        task.end()
    }
}

struct InOrder<'s>(&'s [&'s str], &'s Map<String, Json>);

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(entries_in_order(self.0, self.1))
    }
}

/// Format A requires `heartbeat`; `keys` come first.
pub(super) fn agent(
    record: &Record,
    heartbeat: &str,
    keys: &[&str],
    (state, signals): (&State, &Signals),
) -> Map<String, Json> {
    let mut values = record.values.clone();
    values.retain(|key, _| !VOLATILE.contains(&key.as_str()));
    values.insert("id".to_owned(), record.id.as_str().into());
    let signal = signals.get(&record.id).map(|signal| signal.at.as_str());
    let begun = || state.root.text("created_at").unwrap_or(UNKNOWN_TIME);
    let at = signal.or_else(|| record.text("registered_at")).unwrap_or_else(begun);
    values.insert(heartbeat.to_owned(), at.into());
    in_order(keys, &values)
}

pub(super) fn read(files: &Files) -> Result<State, FormatError> {
    let mut tasks = Source::read(files, TASKS)?;
    let plan = files.get(PLAN).map(|bytes| String::from_utf8(bytes.clone()));
    let plan = plan.transpose().map_err(|_| FormatError::NotText { file: PLAN })?;
    let mut root = new_root(plan.unwrap_or_default());
    let records = tasks.records(LIST, RecordKind::Task)?;
    tasks.into_root(&["version", "created_at"], &mut root);
    let mut agents = Vec::new();
    if files.contains_key(AGENTS) {
        let mut source = Source::read(files, AGENTS)?;
        agents = source.records("agents", RecordKind::Agent)?;
        source.into_root(&[], &mut root);
    }
    Ok(State { root, tasks: records, agents, discoveries: Vec::new(), places: Places::default() })
}

/// Of an ended task; for people, never read back.
pub fn result_file(task: &Record) -> Option<(String, Vec<u8>)> {
    Some((format!("results/{}.md", file_stem(&task.id)), result_page(task)?.into_bytes()))
}

fn result_page(task: &Record) -> Option<String> {
    let result = task.values.get("result").and_then(Json::as_object);
    let of_result = |key: &str| result.and_then(|result| result.get(key)?.as_str()).unwrap_or_default();
    let description = task.text("description").unwrap_or_default();
    let head = format!("# Task: {}\n\n## Description\n{description}\n\n", task.id);
    let who = task.claimed_by().unwrap_or("None");
    let at = task.text("completed_at").unwrap_or("None");
    if is_done(task) {
        let listed = |key: &str| {
            let files = result.and_then(|result| result.get(key)?.as_array()).into_iter().flatten();
            let lines: Vec<String> = files.filter_map(Json::as_str).map(|file| format!("- {file}")).collect();
            if lines.is_empty() { "None".to_owned() } else { lines.join("\n") }
        };
        return Some(format!(
            "{head}## Completed By\n{who}\n\n## Completed At\n{at}\n\n## Output\n{}\n\n## Files Modified\n{}\n\n\
             ## Files Created\n{}\n\n## Status\nSUCCESS\n",
            of_result("output"),
            listed("files_modified"),
            listed("files_created"),
        ));
    }
    (task.status() == "failed").then(|| {
        let reason = of_result("error");
        format!(
            "{head}## Attempted By\n{who}\n\n## Failed At\n{at}\n\n## Failure Reason\n{reason}\n\n## Status\nFAILED\n"
        )
    })
}
