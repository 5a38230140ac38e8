//! Kinds of records, and their order of keys.

use super::{Format, Record};
use crate::records::RecordKinds;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::fmt;

/// Stored under `stepmark_kind`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// Goal, other singletons, and the master plan as body.
    Coordination,
    Task,
    Agent,
    /// Shared finding, as body.
    Discovery,
}

/// Unknown keys of its files, by file name.
pub(super) const EXTRA: &str = "extra";

const TASK_KEYS: [&str; 26] = [
    "description",
    "status",
    "priority",
    "claimed_by",
    "dependencies",
    "context",
    "result",
    "created_at",
    "claimed_at",
    "completed_at",
    "tags",
    "parent_id",
    "estimated_duration",
    "actual_duration",
    "required_capabilities",
    "max_retries",
    "retry_count",
    "retry_delay",
    "next_retry_at",
    "timeout_minutes",
    "group_id",
    "priority_boost",
    "blocks",
    "started_at",
    "attempts",
    "max_attempts",
];

const CONTEXT_KEYS: [&str; 5] = ["files", "hints", "parent_task", "tags", "metadata"];

const RESULT_KEYS: [&str; 8] = [
    "output",
    "files_modified",
    "files_created",
    "files_deleted",
    "error",
    "notes",
    "subtasks_created",
    "discoveries",
];

impl RecordKind {
    /// `None`: the folder of the coordination itself.
    pub const fn folder(self) -> Option<&'static str> {
        match self {
            Self::Coordination => None,
            Self::Task => Some("tasks"),
            Self::Agent => Some("agents"),
            Self::Discovery => Some("discoveries"),
        }
    }
}

impl RecordKinds for RecordKind {
    const ALL: &'static [Self] = &[Self::Coordination, Self::Task, Self::Agent, Self::Discovery];

    fn name(self) -> &'static str {
        match self {
            Self::Coordination => "coordination",
            Self::Task => "task",
            Self::Agent => "agent",
            Self::Discovery => "discovery",
        }
    }

    fn id_key(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Coordination | Self::Task | Self::Discovery => "id",
        }
    }

    fn body_key(self) -> Option<&'static str> {
        match self {
            Self::Coordination => Some("master_plan"),
            Self::Discovery => Some("content"),
            Self::Task | Self::Agent => None,
        }
    }

    fn fault(record: &Record) -> Option<String> {
        let priority = record.values.get("priority").filter(|_| record.has_odd_priority())?;
        Some(format!("the priority {priority} is no whole number from 1 to 10"))
    }

    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Coordination => &[
                "goal",
                "created_at",
                "version",
                "working_directory",
                "max_parallel_workers",
                "task_timeout_seconds",
            ],
            Self::Task => &TASK_KEYS,
            Self::Agent => &["role", "capabilities", "registered_at", "current_task", "tasks_completed"],
            Self::Discovery => &["agent_id", "tags", "created_at", "related_task"],
        }
    }

    fn inner_keys(self, key: &str) -> Option<&'static [&'static str]> {
        match (self, key) {
            (Self::Task, "context") => Some(&CONTEXT_KEYS),
            (Self::Task, "result") => Some(&RESULT_KEYS),
            _ => None,
        }
    }

    fn is_usual(self, key: &str, value: &Json) -> bool {
        let is = |number| value.as_i64() == Some(number);
        match (self, key) {
            (Self::Task, "status") => value == "available",
            (Self::Task, "priority") => is(USUAL_PRIORITY),
            (Self::Task, "attempts") | (Self::Agent, "tasks_completed") => is(0),
            (Self::Task, "max_attempts") => is(USUAL_ATTEMPTS),
            (Self::Agent, "role") => value == "worker",
            // Orchestrator defaults for every agent: not running, no measurements.
            (Self::Agent, "is_active") => value == false,
            (Self::Agent, "working_directory") => value == ".",
            (Self::Agent, "max_concurrent_tasks") => is(1),
            (Self::Agent, "metrics") => {
                value.as_object().is_some_and(|all| all.values().all(|one| one.as_f64() == Some(0.0)))
            }
            _ => false,
        }
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

pub(super) const USUAL_PRIORITY: i64 = 5;

pub(super) const USUAL_ATTEMPTS: i64 = 3;

impl Record {
    /// Defaults to `available`; empty if it is not text.
    pub fn status(&self) -> &str {
        match self.values.get("status") {
            None | Some(Json::Null) => "available",
            Some(status) => status.as_str().unwrap_or_default(),
        }
    }

    pub fn claimed_by(&self) -> Option<&str> {
        self.text("claimed_by")
    }

    pub fn dependencies(&self) -> Vec<&str> {
        self.texts("dependencies")
    }

    /// 1 is highest, 10 lowest.
    pub fn priority(&self) -> i64 {
        self.number("priority").unwrap_or(USUAL_PRIORITY)
    }

    pub(crate) fn has_odd_priority(&self) -> bool {
        let is_in_range = |number| (1..=10).contains(&number);
        let odd = |priority: &Json| !priority.is_null() && !priority.as_i64().is_some_and(is_in_range);
        self.values.get("priority").is_some_and(odd)
    }

    /// For claims: boosted.
    pub fn effective_priority(&self) -> i64 {
        self.priority().saturating_sub(self.number("priority_boost").unwrap_or_default()).max(1)
    }

    /// A list, or a text with commas.
    pub fn capabilities(&self, key: &str) -> Vec<&str> {
        match self.text(key) {
            Some(text) => text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect(),
            None => self.texts(key),
        }
    }

    /// Count, maximum, and the counting key.
    pub fn attempts(&self) -> (i64, i64, &'static str) {
        let (count, most) = if self.counts_attempts() {
            ("attempts", "max_attempts")
        } else {
            ("retry_count", "max_retries")
        };
        (self.number(count).unwrap_or_default(), self.number(most).unwrap_or(USUAL_ATTEMPTS), count)
    }

    pub(super) fn counts_attempts(&self) -> bool {
        ["attempts", "max_attempts"].iter().any(|key| self.number(key).is_some())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    pub id: String,
    pub description: String,
    pub priority: i64,
    pub dependencies: Vec<String>,
    pub context_files: Vec<String>,
    pub hints: String,
}

impl NewTask {
    pub fn new(id: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            description: description.into(),
            priority: 5,
            dependencies: Vec::new(),
            context_files: Vec::new(),
            hints: String::new(),
        }
    }

    pub fn record(&self, order: i64, now: &str) -> Record {
        let values = json!({
            "description": self.description,
            "status": "available",
            "priority": self.priority,
            "claimed_by": null,
            "dependencies": self.dependencies,
            "context": {"files": self.context_files, "hints": self.hints},
            "created_at": now,
        });
        Record { order: Some(order), ..record(RecordKind::Task, &self.id, values) }
    }
}

impl Record {
    /// `plan` is Markdown.
    pub fn root(goal: &str, plan: &str, format: Format, now: &str) -> Self {
        let mut values = json!({"goal": goal, "created_at": now, "version": "1.0"});
        if format == Format::OrchestratorState {
            values["working_directory"] = ".".into();
            values["max_parallel_workers"] = 3.into();
            values["task_timeout_seconds"] = 600.into();
        }
        let kind = RecordKind::Coordination;
        Self { body: plan.to_owned(), ..record(kind, kind.name(), values) }
    }

    pub fn agent(id: &str, role: &str, now: &str) -> Self {
        let values = json!({
            "role": role,
            "capabilities": [],
            "registered_at": now,
            "current_task": null,
            "tasks_completed": 0,
        });
        record(RecordKind::Agent, id, values)
    }

    pub fn discovery(
        id: &str,
        (agent, content, tags): (&str, &str, &[String]),
        order: i64,
        now: &str,
    ) -> Self {
        let values = json!({"agent_id": agent, "tags": tags, "created_at": now});
        Self { order: Some(order), body: content.to_owned(), ..record(RecordKind::Discovery, id, values) }
    }
}

fn record(kind: RecordKind, id: &str, values: Json) -> Record {
    let values = match values {
        Json::Object(values) => values,
        _ => Map::new(),
    };
    Record::new(kind, id, values)
}
