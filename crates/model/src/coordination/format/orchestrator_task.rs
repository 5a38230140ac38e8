//! A task in format C.
//!
//! Values that the orchestrator's model would refuse or drop are replaced or left out; the originals are in
//! the note `context.metadata.stepmark`. Reading restores an original only if its replacement is unchanged,
//! else the orchestrator's value wins. So reading gives back what was written.

use super::server_state::{discovery, read_state};
use super::source::{Source, UNKNOWN_TIME, add_extra, to_bytes};
use super::{Files, FormatError, tasks_file::agent};
use crate::coordination::{Record, State};
use crate::lifecycle::built_in;
use crate::records::{Signals, in_order, read_time, said};
use serde_json::{Map, Value as Json};

type Values = Map<String, Json>;

/// In `context.metadata`.
const NOTE: &str = "stepmark";

/// Lists keys that the task does not have.
const ABSENT: &str = "absent";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    Role,
    Text,
    OptionalText,
    Status,
    Priority,
    Count,
    Time,
    Texts,
    Context,
    Metadata,
    Result,
}

const TASK: [(&str, Kind); 14] = [
    ("description", Kind::Text),
    ("status", Kind::Status),
    ("priority", Kind::Priority),
    ("claimed_by", Kind::OptionalText),
    ("dependencies", Kind::Texts),
    ("blocks", Kind::Texts),
    ("context", Kind::Context),
    ("result", Kind::Result),
    ("created_at", Kind::Time),
    ("claimed_at", Kind::Time),
    ("started_at", Kind::Time),
    ("completed_at", Kind::Time),
    ("attempts", Kind::Count),
    ("max_attempts", Kind::Count),
];

const CONTEXT: [(&str, Kind); 5] = [
    ("files", Kind::Texts),
    ("hints", Kind::Text),
    ("parent_task", Kind::OptionalText),
    ("tags", Kind::Texts),
    ("metadata", Kind::Metadata),
];

const RESULT: [(&str, Kind); 7] = [
    ("output", Kind::Text),
    ("files_modified", Kind::Texts),
    ("files_created", Kind::Texts),
    ("files_deleted", Kind::Texts),
    ("error", Kind::OptionalText),
    ("subtasks_created", Kind::Texts),
    ("discoveries", Kind::Texts),
];

impl Kind {
    fn held(self, key: &str, value: &Json) -> Option<Json> {
        let is_texts = |items: &[Json]| items.iter().all(Json::is_string);
        let fits = match self {
            Self::Any => true,
            Self::Role => {
                value.as_str().is_some_and(|role| ["leader", "worker", "specialist"].contains(&role))
            }
            Self::Text => value.is_string(),
            Self::OptionalText => value.is_string() || value.is_null(),
            Self::Status => value.as_str().is_some_and(|word| held_status(word) == word),
            Self::Priority => value.as_i64().is_some_and(|number| (1..=10).contains(&number)),
            Self::Count => value.as_i64().is_some(),
            Self::Time => {
                value.as_str().is_some_and(|text| read_time(text).is_some())
                    || value.is_null() && !["created_at", "last_heartbeat"].contains(&key)
            }
            Self::Texts => value.as_array().is_some_and(|items| is_texts(items)),
            Self::Context => value.is_object(),
            Self::Metadata => value.as_object().is_some_and(|metadata| !metadata.contains_key(NOTE)),
            Self::Result => value.is_object() || value.is_null(),
        };
        if fits {
            return Some(value.clone());
        }
        match self {
            Self::Role => Some("worker".into()),
            Self::Text => Some("".into()),
            Self::OptionalText => Some(Json::Null),
            Self::Status if value.is_null() => Some("available".into()),
            Self::Status => Some(held_status(value.as_str().unwrap_or_default()).into()),
            Self::Priority => Some(5.into()),
            Self::Time if key == "created_at" => Some(UNKNOWN_TIME.into()),
            Self::Any | Self::Count | Self::Time | Self::Context | Self::Metadata => None,
            Self::Texts => {
                let texts = value.as_array().into_iter().flatten().filter(|item| item.is_string());
                Some(texts.cloned().collect())
            }
            Self::Result => Some(match value {
                Json::String(output) => {
                    Json::Object([("output".to_owned(), output.as_str().into())].into_iter().collect())
                }
                _ => Json::Null,
            }),
        }
    }
}

/// Statuses that the model lacks become `blocked`, which stops work; `cancelled` becomes `failed`.
fn held_status(word: &str) -> &str {
    let state = built_in("cc-task").and_then(|lifecycle| lifecycle.state_of(word));
    match state.map(|state| state.name.as_str()) {
        Some("cancelled") => "failed",
        Some(name) => name,
        None => "blocked",
    }
}

pub(crate) fn unheld(record: &Record) -> Vec<String> {
    let task = task(record);
    let note = task.pointer("/context/metadata/stepmark").and_then(Json::as_object);
    let parts = note.into_iter().flatten().filter_map(|(part, rest)| Some((part, rest.as_object()?)));
    let paths = parts.flat_map(|(part, rest)| {
        rest.keys().map(move |key| if part == "task" { key.clone() } else { format!("{part}.{key}") })
    });
    paths.collect()
}

pub(super) fn task(record: &Record) -> Json {
    let mut note = Values::new();
    let mut absent: Vec<Json> = Vec::new();
    let mut held = hold("task", &TASK, &record.values, &mut note);
    for (key, unknown) in [("description", ""), ("created_at", UNKNOWN_TIME)] {
        if !held.contains_key(key) {
            held.insert(key.to_owned(), unknown.into());
            absent.push(key.into());
        }
    }
    if let Some(Json::Object(result)) = held.get("result") {
        let mut result = hold("result", &RESULT, result, &mut note);
        if !result.contains_key("output") {
            result.insert("output".to_owned(), "".into());
            absent.push("result.output".into());
        }
        held.insert("result".to_owned(), in_order(&RESULT.map(|(key, _)| key), &result).into());
    }
    let context = held.get("context").and_then(Json::as_object);
    let has_context = context.is_some();
    let mut context =
        context.map(|context| hold("context", &CONTEXT, context, &mut note)).unwrap_or_default();
    if !note.is_empty() || !absent.is_empty() {
        if !has_context {
            absent.push("context".into());
        }
        let metadata = context.entry("metadata").or_insert_with(|| {
            absent.push("context.metadata".into());
            Json::Object(Values::new())
        });
        if !absent.is_empty() {
            note.insert(ABSENT.to_owned(), absent.into());
        }
        if let Json::Object(metadata) = metadata {
            metadata.insert(NOTE.to_owned(), note.into());
        }
        held.insert("context".to_owned(), context.clone().into());
    }
    if has_context {
        held.insert("context".to_owned(), in_order(&CONTEXT.map(|(key, _)| key), &context).into());
    }
    let mut values = Values::new();
    values.insert("id".to_owned(), record.id.as_str().into());
    values.extend(in_order(&TASK.map(|(key, _)| key), &held));
    values.into()
}

/// Moves originals of other values into the note under `part`.
fn hold(part: &str, kinds: &[(&str, Kind)], values: &Values, note: &mut Values) -> Values {
    let (mut held, mut rest) = (Values::new(), Values::new());
    for (key, value) in values {
        let replacement = held_value(kinds, key, value);
        if replacement.as_ref() != Some(value) {
            rest.insert(key.clone(), value.clone());
        }
        if let Some(replacement) = replacement {
            held.insert(key.clone(), replacement);
        }
    }
    if !rest.is_empty() {
        note.insert(part.to_owned(), rest.into());
    }
    held
}

/// For records other than tasks; `wanted` keys are mandatory.
pub(super) fn held_record(kinds: &[(&str, Kind)], wanted: &[&str], mut values: Values) -> Json {
    for key in wanted {
        values.entry(*key).or_insert(Json::Null);
    }
    let keys = kinds
        .iter()
        .filter_map(|(key, _)| Some(((*key).to_owned(), held_value(kinds, key, values.get(*key)?)?)));
    Json::Object(keys.collect())
}

fn held_value(kinds: &[(&str, Kind)], key: &str, value: &Json) -> Option<Json> {
    let (_, kind) = kinds.iter().find(|(own, _)| *own == key)?;
    kind.held(key, value)
}

pub(super) fn read_task(record: &mut Record) {
    let Some(note) = take_note(&mut record.values) else { return };
    let is_absent = |path: &str| {
        note.get(ABSENT).and_then(Json::as_array).is_some_and(|paths| paths.iter().any(|own| own == path))
    };
    let values = &mut record.values;
    if let Some(Json::Object(context)) = values.get_mut("context") {
        remove(context, "metadata", is_absent("context.metadata"), None);
        restore(&CONTEXT, context, note.get("context"));
    }
    if let Some(Json::Object(result)) = values.get_mut("result") {
        remove(result, "output", is_absent("result.output"), None);
        restore(&RESULT, result, note.get("result"));
    }
    remove(values, "context", is_absent("context"), None);
    remove(values, "description", is_absent("description"), None);
    remove(values, "created_at", is_absent("created_at"), Some(&UNKNOWN_TIME.into()));
    restore(&TASK, values, note.get("task"));
}

fn take_note(values: &mut Values) -> Option<Values> {
    let metadata = values.get_mut("context")?.get_mut("metadata")?.as_object_mut()?;
    match metadata.shift_remove(NOTE) {
        Some(Json::Object(note)) => Some(note),
        Some(other) => {
            metadata.insert(NOTE.to_owned(), other);
            None
        }
        None => None,
    }
}

fn remove(values: &mut Values, key: &str, was_absent: bool, written: Option<&Json>) {
    if was_absent && says_the_same(key, values.get(key), written) {
        values.shift_remove(key);
    }
}

fn restore(kinds: &[(&str, Kind)], values: &mut Values, originals: Option<&Json>) {
    for (key, original) in originals.and_then(Json::as_object).into_iter().flatten() {
        let replacement = held_value(kinds, key, original);
        if says_the_same(key, values.get(key), replacement.as_ref()) {
            values.insert(key.clone(), original.clone());
        }
    }
}

fn says_the_same(key: &str, one: Option<&Json>, other: Option<&Json>) -> bool {
    let entry = |value: Option<&Json>| {
        let value = value.cloned().unwrap_or_default();
        said(&Json::Object([(key.to_owned(), value)].into_iter().collect()))
    };
    entry(one) == entry(other)
}

/// The orchestrator's default.
pub(super) const FILE: &str = "orchestrator-state.json";

const ROOT: [&str; 5] =
    ["goal", "created_at", "working_directory", "max_parallel_workers", "task_timeout_seconds"];

/// The orchestrator drops other keys.
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
