//! New records, as commands make them.

use serde_json::{Map, Value as Json, json};

use super::{Format, Record, RecordKind};
use crate::records::RecordKinds as _;

/// A task that is to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewTask {
    /// Its id.
    pub id: String,
    /// The work.
    pub description: String,
    /// From 1, the highest, to 10.
    pub priority: i64,
    /// The ids of tasks that have to be done before.
    pub dependencies: Vec<String>,
    /// Files that help.
    pub context_files: Vec<String>,
    /// Other help.
    pub hints: String,
}

impl NewTask {
    /// A task of the usual priority, which waits for nothing.
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

    /// Its record at a place, made at `now`.
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
    /// The record of a coordination that begins at `now` with a goal and a plan as Markdown.
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

    /// The record of an agent that is first seen at `now`.
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

    /// The record of what an agent has found out.
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
