//! The kinds of records, and the order of their keys.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::values::{USUAL_ATTEMPTS, USUAL_PRIORITY};
use crate::records::RecordKinds;

/// A kind of record. The frontmatter says it under `stepmark_kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// The goal, the master plan as body, and what else there is one of.
    Coordination,
    /// A piece of work.
    Task,
    /// A leader or a worker.
    Agent,
    /// A finding that agents share, as body.
    Discovery,
}

/// The key of [`RecordKind::Coordination`] with what its files say besides, by name of the file.
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
    /// The folder of its artifacts within the folder of the coordination; `None` for the one artifact that
    /// stands in there itself.
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
            // An orchestrator notes of every agent that it is not running, and has measured nothing.
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
