//! A flow with its graph and its executions, and the tasks that can be claimed.

use std::collections::HashSet;

use super::{Attempt, FlowRefusal, Graph, HumanAction, Scopes, TaskDefinition, Verification};
use crate::{
    artifact::{Artifact, KIND_KEY, PathGlob, ProjectPath, StateUnreadable, state_edits, state_file},
    packs::Write,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value as Json};
use stepmark_frontmatter::{Edit, EditError};

#[derive(Clone, Debug)]
pub struct FlowState {
    pub flow: FlowRecord,
    pub graph: Graph,
    pub tasks: Vec<FlowRecord>,
}

impl FlowState {
    pub fn task(&self, task: &str) -> Result<&FlowRecord, FlowRefusal> {
        let found = self.tasks.iter().find(|record| record.task() == task);
        found.ok_or_else(|| FlowRefusal::NoTask { flow: self.flow.id().to_owned(), task: task.to_owned() })
    }

    pub(super) fn definition(&self, task: &FlowRecord) -> Result<&TaskDefinition, FlowRefusal> {
        self.check_graph()?;
        let (flow, id) = (self.flow.id().to_owned(), task.task());
        self.graph.task(id).ok_or_else(|| FlowRefusal::NoTask { flow, task: id.to_owned() })
    }

    pub fn check_graph(&self) -> Result<(), FlowRefusal> {
        match self.flow.text("graph_digest") == self.graph.digest() {
            true => Ok(()),
            false => {
                Err(FlowRefusal::GraphChanged { graph: self.graph.id.clone(), version: self.graph.version })
            }
        }
    }

    pub fn ready(&self) -> Vec<&FlowRecord> {
        let done = self.succeeded();
        let running: Vec<_> = self.running().map(|task| (task, task.scopes())).collect();
        let is_ready = |task: &&FlowRecord| {
            let scopes = || task.scopes();
            is_claimable(task)
                && task.texts("depends_on").iter().all(|id| done.contains(id))
                && (running.is_empty()
                    || !running.iter().any(|(_, taken)| overlap(&scopes(), taken).is_some()))
        };
        self.tasks.iter().filter(is_ready).collect()
    }

    pub fn open_dependencies<'t>(&self, task: &'t FlowRecord) -> Vec<&'t str> {
        let done = self.succeeded();
        let mut open = task.texts("depends_on");
        open.retain(|id| !done.contains(id));
        open
    }

    pub(super) fn check_scopes(&self, task: &FlowRecord) -> Result<(), FlowRefusal> {
        let scopes = task.scopes();
        for other in self.running().filter(|other| other.id() != task.id()) {
            let taken = other.scopes();
            if let Some((wanted, taken)) = overlap(&scopes, &taken) {
                return Err(FlowRefusal::ScopeTaken {
                    task: task.task().to_owned(),
                    wanted: wanted.to_owned(),
                    other: other.task().to_owned(),
                    taken: taken.to_owned(),
                });
            }
        }
        Ok(())
    }

    pub fn unfinished(&self) -> Vec<String> {
        let open = self.tasks.iter().filter(|task| task.status() != "SUCCESS");
        let missing = self.graph.tasks.iter().filter(|own| self.task(&own.id).is_err());
        open.map(|task| task.task().to_owned()).chain(missing.map(|own| own.id.clone())).collect()
    }

    pub fn nothing_ready(&self) -> FlowRefusal {
        let count =
            |statuses: &[&str]| self.tasks.iter().filter(|task| statuses.contains(&task.status())).count();
        FlowRefusal::NothingReady {
            flow: self.flow.id().to_owned(),
            waiting: count(&["PENDING", "READY", "RETRY"]),
            running: count(&["RUNNING", "VERIFYING"]),
            failed: count(&["FAILED", "ESCALATED"]),
        }
    }

    fn running(&self) -> impl Iterator<Item = &FlowRecord> {
        self.tasks.iter().filter(|task| task.status() == "RUNNING")
    }

    fn succeeded(&self) -> HashSet<&str> {
        self.tasks.iter().filter(|task| task.status() == "SUCCESS").map(FlowRecord::id).collect()
    }
}

const CLAIMABLE: [&str; 3] = ["PENDING", "READY", "RETRY"];

fn is_claimable(task: &FlowRecord) -> bool {
    CLAIMABLE.contains(&task.status())
}

#[derive(Clone, Debug, Default)]
pub struct FlowFacts {
    /// Readable ones only.
    pub flows: Vec<FlowState>,
}

impl FlowFacts {
    pub(crate) fn of(&self, record: &FlowRecord) -> Option<&FlowState> {
        let id = if record.task().is_empty() { record.id() } else { record.text("flow") };
        self.flows.iter().find(|state| state.flow.id() == id)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Why {
    pub task: String,
    pub status: String,
    pub reasons: Vec<String>,
}

/// Dependencies, failed checks, or who stopped it.
pub fn why(state: &FlowState, task: &str) -> Result<Why, FlowRefusal> {
    let record = state.task(task)?;
    let mut reasons = Vec::new();
    match record.status() {
        "PENDING" | "READY" | "RETRY" => waiting(state, record, &mut reasons),
        "RUNNING" => {
            if let Some(attempt) = record.open_attempt() {
                reasons.push(format!(
                    "`{}` works on the attempt `{}` since {}",
                    attempt.agent, attempt.attempt_id, attempt.started_at
                ));
            }
        }
        "VERIFYING" => {
            if let Some(attempt) = record.attempts().last() {
                reasons.push(format!("the attempt `{}` waits for its verification", attempt.attempt_id));
            }
        }
        _ => {}
    }
    reasons.extend(judged(record));
    let acts = record.human_actions();
    reasons.extend(acts.iter().rev().map(|act| {
        let reason = act.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        format!("{} by `{}` at {}{reason}", act.action, act.actor, act.decided_at)
    }));
    let (task, status) = (task.to_owned(), record.status().to_owned());
    Ok(Why { task, status, reasons })
}

fn waiting(state: &FlowState, record: &FlowRecord, reasons: &mut Vec<String>) {
    if state.flow.status() != "RUNNING" {
        reasons.push(format!("the flow is `{}`", state.flow.status()));
    }
    for id in state.open_dependencies(record) {
        let other = state.tasks.iter().find(|other| other.id() == id);
        let told = other.map_or("missing", FlowRecord::status);
        let blocked = other.map(|other| other.text("blocking_reason")).filter(|text| !text.is_empty());
        let cause = blocked.map_or_else(String::new, |text| format!(": {text}"));
        reasons.push(format!("it waits for `{id}`, which is `{told}`{cause}"));
    }
    if let Err(refusal) = state.check_scopes(record) {
        reasons.push(refusal.to_string());
    }
}

fn judged(record: &FlowRecord) -> Vec<String> {
    let Some(last) = record.verifications().pop() else { return Vec::new() };
    // A person may override the reasons; optional checks do not decide.
    let has_passed = last.failure_reasons.is_empty() || record.status() == "SUCCESS";
    let verdict = if has_passed { "passed" } else { "failed" };
    let used = format!("{} of {}", record.number("attempt_count"), record.number("max_attempts"));
    let mut told =
        vec![format!("the attempt `{}` {verdict} at {} (attempt {used})", last.attempt_id, last.decided_at)];
    told.extend(last.failure_reasons);
    let passed: Vec<&str> =
        last.checks.iter().filter(|check| check.passed).map(|check| check.name.as_str()).collect();
    if !passed.is_empty() {
        told.push(format!("checks that passed: {}", passed.join(", ")));
    }
    told
}

/// Write–read and write–write conflicts. Compares patterns by their folders: misses none, but reports some
/// that never meet.
pub fn overlap<'s>(one: &'s Scopes, other: &'s Scopes) -> Option<(&'s str, &'s str)> {
    let meet = |left: &'s [String], right: &'s [String]| {
        left.iter().find_map(|left| {
            let met = right.iter().find(|right| meets(left, right))?;
            Some((left.as_str(), met.as_str()))
        })
    };
    meet(&one.write, &other.write)
        .or_else(|| meet(&one.write, &other.read))
        .or_else(|| meet(&one.read, &other.write))
}

pub fn allows(scopes: &[String], path: &str) -> bool {
    let project_path = ProjectPath::new(path).ok();
    scopes.iter().any(|scope| {
        let glob = scope.parse::<PathGlob>().ok();
        let is_matched = glob.zip(project_path.as_ref()).is_some_and(|(glob, path)| glob.matches(path));
        is_matched || !is_pattern(scope) && is_within(path, folder(scope))
    })
}

fn meets(one: &str, other: &str) -> bool {
    let (one, other) = (fixed(one), fixed(other));
    is_within(one, other) || is_within(other, one)
}

fn is_within(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The fixed folder of a pattern.
fn fixed(scope: &str) -> &str {
    let scope = folder(scope);
    match scope.find(PATTERN) {
        Some(at) => scope[..at].rfind('/').map_or("", |slash| &scope[..slash]),
        None => scope,
    }
}

const PATTERN: [char; 4] = ['*', '?', '[', '{'];

fn is_pattern(scope: &str) -> bool {
    scope.contains(PATTERN)
}

fn folder(scope: &str) -> &str {
    let scope = scope.strip_prefix("./").unwrap_or(scope).trim_end_matches('/');
    if scope == "." { "" } else { scope }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowKind {
    Graph,
    Flow,
    Execution,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FlowRecord {
    values: Map<String, Json>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowRecordError {
    #[error(transparent)]
    Unreadable(#[from] StateUnreadable),
    #[error("`stepmark_kind` is {found}: `{wanted}` is wanted")]
    Kind { found: String, wanted: &'static str },
    #[error("`{key}` is not what it should be: {reason}")]
    Value { key: String, reason: String },
}

impl FlowKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Graph => "task-graph",
            Self::Flow => "task-flow",
            Self::Execution => "task-execution",
        }
    }

    pub const fn lifecycle(self) -> &'static str {
        match self {
            Self::Graph => "hivemind-graph",
            Self::Flow => "hivemind-flow",
            Self::Execution => "hivemind-task",
        }
    }
}

impl FlowRecord {
    pub(super) fn new(kind: FlowKind, values: Json) -> Self {
        let mut record = Self { values: Map::new() };
        record.set(KIND_KEY, kind.name());
        if let Json::Object(values) = values {
            record.values.extend(values);
        }
        record
    }

    pub fn of(artifact: &Artifact, kind: FlowKind) -> Result<Self, FlowRecordError> {
        let state = artifact.state_value()?;
        let found = state.get(KIND_KEY).unwrap_or(&Json::Null);
        match state {
            Json::Object(values) if found == kind.name() => Ok(Self { values }),
            _ => Err(FlowRecordError::Kind { found: found.to_string(), wanted: kind.name() }),
        }
    }

    pub fn of_state(state: Json) -> Result<Self, FlowRecordError> {
        match state {
            Json::Object(values) => Ok(Self { values }),
            other => Err(FlowRecordError::Kind { found: other.to_string(), wanted: "task-flow" }),
        }
    }

    pub fn is(&self, kind: FlowKind) -> bool {
        self.text(KIND_KEY) == kind.name()
    }

    pub const fn values(&self) -> &Map<String, Json> {
        &self.values
    }

    pub fn edits_to(&self, wanted: &Self) -> Vec<Edit> {
        state_edits(&self.values, &wanted.values)
    }

    pub fn to_file(&self) -> Result<Vec<u8>, EditError> {
        state_file(&self.values, "")
    }

    pub fn text(&self, key: &str) -> &str {
        self.values.get(key).and_then(Json::as_str).unwrap_or_default()
    }

    pub fn id(&self) -> &str {
        self.text("id")
    }

    pub fn status(&self) -> &str {
        self.text("status")
    }

    pub fn task(&self) -> &str {
        self.text("task")
    }

    pub fn number(&self, key: &str) -> u64 {
        self.values.get(key).and_then(Json::as_u64).unwrap_or_default()
    }

    pub fn texts(&self, key: &str) -> Vec<&str> {
        let items = self.values.get(key).and_then(Json::as_array);
        items.map(|items| items.iter().filter_map(Json::as_str).collect()).unwrap_or_default()
    }

    pub fn part<T: DeserializeOwned + Default>(&self, key: &str) -> T {
        let value = self.values.get(key).cloned();
        value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
    }

    /// No move leads out of the status.
    pub fn has_ended(&self) -> bool {
        ["SUCCESS", "FAILED", "ESCALATED"].contains(&self.status())
    }

    pub fn open_attempt(&self) -> Option<Attempt> {
        self.part("attempt")
    }

    pub fn attempts(&self) -> Vec<Attempt> {
        self.part("attempts")
    }

    pub fn last_attempt(&self) -> Option<Attempt> {
        self.open_attempt().or_else(|| self.attempts().pop())
    }

    fn checkpoint_entries(&self) -> Vec<Json> {
        self.part("checkpoint_commits")
    }

    pub fn checkpoints(&self) -> Vec<String> {
        let entries = self.checkpoint_entries();
        entries.iter().filter_map(|entry| entry["commit"].as_str().map(str::to_owned)).collect()
    }

    /// A merge would leave its work out.
    pub fn lacks_checkpoint(&self) -> bool {
        let last = self.last_attempt().unwrap_or_default().attempt_id;
        !self.checkpoint_entries().iter().any(|entry| entry["attempt_id"] == last.as_str())
    }

    pub fn verifications(&self) -> Vec<Verification> {
        self.part("verifications")
    }

    pub fn human_actions(&self) -> Vec<HumanAction> {
        self.part("human_actions")
    }

    pub fn scopes(&self) -> Scopes {
        self.part("required_scopes")
    }

    pub(super) fn set(&mut self, key: &str, value: impl Into<Json>) {
        self.values.insert(key.to_owned(), value.into());
    }

    pub(super) fn write(&mut self, write: Write) {
        write.apply(&mut self.values);
    }

    pub(super) fn unset(&mut self, key: &str) {
        self.values.shift_remove(key);
    }

    pub(super) fn push(&mut self, key: &str, item: impl serde::Serialize) {
        let item = serde_json::to_value(item).unwrap_or_default();
        match self.values.get_mut(key) {
            Some(Json::Array(items)) => items.push(item),
            _ => self.set(key, vec![item]),
        }
    }
}

pub fn is_flow_id(text: &str) -> bool {
    is_task_id(text) && !text.contains('.')
}

/// Valid as a file name on every system, and in a branch name (git-check-ref-format).
pub fn is_task_id(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let is_name = (1..=80).contains(&text.len()) && text.chars().all(is_plain) && !is_device(text);
    let is_branch = !text.contains("..") && !text.ends_with('.') && !text.ends_with(".lock");
    is_name && is_branch && !text.starts_with(['.', '-'])
}

/// Windows device names (learn.microsoft.com/windows/win32/fileio/naming-a-file).
fn is_device(text: &str) -> bool {
    let name = text.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let numbered = |prefix| name.strip_prefix(prefix).is_some_and(|rest| rest.len() == 1 && rest > "0");
    ["con", "prn", "aux", "nul"].contains(&name.as_str()) || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_writes_is_alone() {
        let scopes = |read: &[&str], write: &[&str]| {
            let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
            Scopes { read: texts(read), write: texts(write) }
        };
        for (one, other, expected) in [
            (scopes(&[], &["src/a.rs"]), scopes(&[], &["src/b.rs"]), false),
            (scopes(&[], &["src"]), scopes(&[], &["src/b.rs"]), true),
            (scopes(&[], &["src/**"]), scopes(&["src/b.rs"], &[]), true),
            (scopes(&["src"], &[]), scopes(&["src"], &[]), false),
            (scopes(&["src/"], &[]), scopes(&[], &["./src/x"]), true),
            (scopes(&[], &["src/a*"]), scopes(&[], &["source/a"]), false),
            (scopes(&[], &["**/*.md"]), scopes(&[], &["docs/a.md"]), true),
            (scopes(&[], &["."]), scopes(&[], &["x"]), true),
            (scopes(&[], &[]), scopes(&[], &["x"]), false),
        ] {
            assert_eq!(overlap(&one, &other).is_some(), expected, "{one:?} {other:?}");
            assert_eq!(overlap(&other, &one).is_some(), expected, "{other:?} {one:?}");
        }
        let written = ["src/**".to_owned(), "docs".to_owned(), "a.md".to_owned()];
        for (path, expected) in
            [("src/x/y.rs", true), ("docs/a.md", true), ("a.md", true), ("b.md", false), ("docs2/a", false)]
        {
            assert_eq!(allows(&written, path), expected, "{path}");
        }
    }
}

#[cfg(test)]
mod record_tests {
    use super::*;

    #[test]
    fn ids_are_names_of_files_and_branches() {
        for text in ["a", "1", "a.b", "task-1_x", "console", "com10", "lock"] {
            assert!(is_task_id(text), "{text}");
        }
        for text in ["", "..", "a..b", "a.", ".a", "-a", "a.lock", "CON", "con.x", "Lpt1", "a/b", "a\nb", "ä"]
        {
            assert!(!is_task_id(text), "{text:?}");
        }
    }
}
