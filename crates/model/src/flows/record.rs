//! A record: what the frontmatter of a graph, a flow or an execution says.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value as Json};
use stepmark_frontmatter::{Edit, EditError};

use super::{Attempt, HumanAction, Scopes, Verification};
use crate::artifact::{Artifact, KIND_KEY, StateUnreadable, state_edits, state_file};
use crate::packs::Write;

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

    /// The bytes of a new artifact that says it.
    pub fn to_file(&self) -> Result<Vec<u8>, EditError> {
        state_file(&self.values, "")
    }

    /// The text under `key`, or an empty one.
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

    /// The whole number under `key`, or 0.
    pub fn number(&self, key: &str) -> u64 {
        self.values.get(key).and_then(Json::as_u64).unwrap_or_default()
    }

    pub fn texts(&self, key: &str) -> Vec<&str> {
        let items = self.values.get(key).and_then(Json::as_array);
        items.map(|items| items.iter().filter_map(Json::as_str).collect()).unwrap_or_default()
    }

    /// The value under `key`; the usual one where it is not of that form.
    pub fn part<T: DeserializeOwned + Default>(&self, key: &str) -> T {
        let value = self.values.get(key).cloned();
        value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
    }

    /// Returns whether nothing follows the status of the task.
    pub fn has_ended(&self) -> bool {
        ["SUCCESS", "FAILED", "ESCALATED"].contains(&self.status())
    }

    pub fn open_attempt(&self) -> Option<Attempt> {
        self.part("attempt")
    }

    pub fn attempts(&self) -> Vec<Attempt> {
        self.part("attempts")
    }

    /// The attempt that is open, else the last one.
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

    /// Returns whether its last attempt has made no checkpoint: a merge would leave its work out.
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

/// Returns whether `text` may be the id of a task in a graph: the name of a file on every system, and a part
/// of the name of a branch (git-check-ref-format).
pub fn is_task_id(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let is_name = (1..=80).contains(&text.len()) && text.chars().all(is_plain) && !is_device(text);
    let is_branch = !text.contains("..") && !text.ends_with('.') && !text.ends_with(".lock");
    is_name && is_branch && !text.starts_with(['.', '-'])
}

/// Returns whether Windows has a device of that name, which no file can have
/// (learn.microsoft.com/windows/win32/fileio/naming-a-file).
fn is_device(text: &str) -> bool {
    let name = text.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let numbered = |prefix| name.strip_prefix(prefix).is_some_and(|rest| rest.len() == 1 && rest > "0");
    ["con", "prn", "aux", "nul"].contains(&name.as_str()) || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
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
