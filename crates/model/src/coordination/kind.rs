//! The kinds of records, and the order of their keys.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::artifact::KIND_KEY;

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

/// The frontmatter key of the place among others of the kind.
pub(super) const ORDER: &str = "stepmark_order";

/// The frontmatter key of what is called like a key of stepmark.
pub(super) const FOREIGN: &str = "foreign";

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

/// The keys of a task that always stand in the file of a server: all before those that stand where needed.
pub(super) const COMMON_TASK_KEYS: &[&str] = TASK_KEYS.split_at(10).0;

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
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Coordination, Self::Task, Self::Agent, Self::Discovery];

    /// Its name in the frontmatter.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Coordination => "coordination",
            Self::Task => "task",
            Self::Agent => "agent",
            Self::Discovery => "discovery",
        }
    }

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

    /// The frontmatter key of its id.
    pub const fn id_key(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Coordination | Self::Task | Self::Discovery => "id",
        }
    }

    /// The key under which files of other formats have its body.
    pub const fn body_key(self) -> Option<&'static str> {
        match self {
            Self::Coordination => Some("master_plan"),
            Self::Discovery => Some("content"),
            Self::Task | Self::Agent => None,
        }
    }

    /// Returns whether stepmark itself has a use for this frontmatter key.
    pub(super) fn owns(self, key: &str) -> bool {
        [KIND_KEY, ORDER, FOREIGN, "stepmark_id", "delegation", "id", self.id_key()].contains(&key)
            || self.body_key() == Some(key)
    }

    /// Its keys behind the id, in order.
    const fn keys(self) -> &'static [&'static str] {
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

    /// `values` in the order of its keys; those that it does not know follow in their own.
    pub(super) fn ordered(self, values: &Map<String, Json>) -> Map<String, Json> {
        let entry = |(key, value): (&String, &Json)| {
            let value = match (self.inner_keys(key), value) {
                (Some(keys), Json::Object(inner)) => in_order(keys, inner).into(),
                _ => value.clone(),
            };
            (key.clone(), value)
        };
        self.entries(values).map(entry).collect()
    }

    /// The entries of `values` in the order of its keys.
    pub(super) fn entries(self, values: &Map<String, Json>) -> impl Iterator<Item = (&String, &Json)> {
        entries_in_order(self.keys(), values)
    }

    /// The keys of the mapping under `key`, in order, where it has one.
    pub(super) fn inner_keys(self, key: &str) -> Option<&'static [&'static str]> {
        match (self, key) {
            (Self::Task, "context") => Some(&CONTEXT_KEYS),
            (Self::Task, "result") => Some(&RESULT_KEYS),
            _ => None,
        }
    }
}

/// `values` with those of `keys` first.
pub(super) fn in_order(keys: &[&str], values: &Map<String, Json>) -> Map<String, Json> {
    entries_in_order(keys, values).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The entries of `values`, those of `keys` first.
pub(super) fn entries_in_order<'v>(
    keys: &[&str],
    values: &'v Map<String, Json>,
) -> impl Iterator<Item = (&'v String, &'v Json)> {
    // Mostly they stand in order already: the next one is looked for behind the last.
    let mut next = 0;
    let mut rank = |key: &String| {
        let is_key = |known: &&str| *known == key;
        let (before, behind) = keys.split_at(next);
        let found = behind.iter().position(is_key).map(|place| next + place);
        let found = found.or_else(|| before.iter().position(is_key));
        next = found.map_or(next, |place| place + 1);
        found.unwrap_or(keys.len())
    };
    let mut entries: Vec<_> = values.iter().map(|entry| (rank(entry.0), entry)).collect();
    // The sort keeps the order of those that are not known.
    entries.sort_by_key(|(rank, _)| *rank);
    entries.into_iter().map(|(_, entry)| entry)
}

impl fmt::Display for RecordKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for RecordKind {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or(())
    }
}
