//! The arguments of the tools.

use serde::Deserialize;
use stepmark_mcp::Refusal;
use stepmark_model::coordination::NewTask;

use super::{new_id, tools::STATUSES};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Beginning {
    pub(super) goal: String,
    #[serde(default)]
    pub(super) master_plan: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// The id, where other tasks of the same batch name it.
    id: Option<String>,
    description: String,
    #[serde(default = "middle")]
    priority: i64,
    #[serde(default)]
    dependencies: Vec<String>,
    #[serde(default)]
    context_files: Vec<String>,
    #[serde(default)]
    hints: String,
}

impl Wanted {
    pub(super) fn task(self) -> Result<NewTask, Refusal> {
        if !(1..=10).contains(&self.priority) {
            let refusal = Refusal::new(format!("the priority {} is out of range", self.priority));
            return Err(refusal.with_remedy("from 1, the highest, to 10"));
        }
        if self.description.trim().is_empty() {
            let refusal = Refusal::new("a task without a description says nothing to do");
            return Err(refusal.with_remedy("say what is to be done"));
        }
        let mut task = NewTask::new(self.id.unwrap_or_else(|| new_id("task")), self.description);
        task.priority = self.priority;
        task.dependencies = self.dependencies;
        task.context_files = self.context_files;
        task.hints = self.hints;
        Ok(task)
    }
}

const fn middle() -> i64 {
    5
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Batch {
    pub(super) tasks: Vec<Wanted>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ByStatus {
    status_filter: Option<String>,
}

impl ByStatus {
    pub(super) fn status(self) -> Result<Option<String>, Refusal> {
        let wanted = self.status_filter.filter(|status| status != "all");
        match wanted {
            Some(unknown) if !STATUSES.contains(&unknown.as_str()) => {
                let refusal = Refusal::new(format!("there is no status {unknown:?}"));
                Err(refusal.with_remedy(format!("one of {}", STATUSES.join(", "))))
            }
            wanted => Ok(wanted),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tasks {
    #[serde(default)]
    pub(super) task_ids: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Joining {
    pub(super) agent_id: String,
    pub(super) role: Role,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    Leader,
    Worker,
}

impl Role {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Leader => "leader",
            Self::Worker => "worker",
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Agent {
    pub(super) agent_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Held {
    pub(super) agent_id: String,
    pub(super) task_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Done {
    pub(super) agent_id: String,
    pub(super) task_id: String,
    pub(super) output: String,
    #[serde(default)]
    pub(super) files_modified: Vec<String>,
    #[serde(default)]
    pub(super) files_created: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Failed {
    pub(super) agent_id: String,
    pub(super) task_id: String,
    pub(super) error: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Found {
    pub(super) agent_id: String,
    pub(super) content: String,
    #[serde(default)]
    pub(super) tags: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ByTags {
    #[serde(default)]
    pub(super) tags: Vec<String>,
    #[serde(default = "twenty")]
    pub(super) limit: usize,
}

const fn twenty() -> usize {
    20
}
