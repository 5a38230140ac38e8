//! The fifteen tools of coordination as clients see them. Names and arguments are those of the server that
//! they come from, so that its prompts go on working.

use super::new_id;
use serde::Deserialize;
use stepmark_mcp::{
    Effect::{self, Changes, ChangesOnce, Reads},
    Presence::{self, Optional, Required},
    Refusal, Schema, Tool,
};
use stepmark_model::coordination::NewTask;

/// Clients show at most 2 KB of it.
pub(super) const INSTRUCTIONS: &str = "\
Tasks that several agents share, kept in the project's files by stepmark.
Leader: init_coordination once, then create_task or create_tasks_batch; watch with get_status, read get_results.
Worker: register_agent once, then again and again claim_task, start_task, the work itself, complete_task or \
fail_task. Only the agent that holds a task may move it. During long work call heartbeat every few minutes: the task \
of a silent agent becomes available again.
claim_task with `claimed: false` means that nothing can be claimed now: the text says what is waited for.
What others must know goes to add_discovery; read get_discoveries and get_master_plan before you begin.
The files in the coordination folder are written by these tools: do not edit them by hand.";

pub(super) const STATUSES: [&str; 9] =
    ["all", "available", "claimed", "in_progress", "done", "failed", "pending", "blocked", "cancelled"];

type Keys<'a> = Vec<(&'a str, Presence, Schema)>;

fn tool(
    name: &'static str,
    description: &'static str,
    effect: Effect,
    (input, output): (Keys<'_>, Keys<'_>),
) -> Tool {
    Tool { name, description, effect, input: Schema::object(input).closed(), output: Schema::object(output) }
}

fn agent_id() -> (&'static str, Presence, Schema) {
    ("agent_id", Required, Schema::text("Your own id"))
}

fn task_id() -> (&'static str, Presence, Schema) {
    ("task_id", Required, Schema::text(""))
}

fn texts(description: &str) -> Schema {
    Schema::list(description, Schema::text(""))
}

fn task() -> Schema {
    Schema::object([
        ("id", Required, Schema::text("")),
        ("description", Required, Schema::text("")),
        ("status", Required, Schema::text("")),
    ])
}

fn new_task() -> Keys<'static> {
    vec![
        ("description", Required, Schema::text("What is to be done; the first line is the title")),
        ("priority", Optional, Schema::between("1 is the highest", 1, 10).or(5.into())),
        ("dependencies", Optional, texts("Ids of tasks that must be done before")),
        ("context_files", Optional, texts("Files to read first")),
        ("hints", Optional, Schema::text("")),
    ]
}

fn moved() -> Keys<'static> {
    vec![task_id(), ("status", Required, Schema::text(""))]
}

/// In the order of a project's life.
pub(super) fn all() -> Vec<Tool> {
    [leading(), watching(), working(), sharing()].into_iter().flatten().collect()
}

fn leading() -> Vec<Tool> {
    let goal = || ("goal", Required, Schema::text(""));
    let plan = ("master_plan", Optional, Schema::text("Markdown that every agent can read"));
    let batch = Schema::list(
        "In any order; they may depend on each other by `id`",
        Schema::object({
            let mut keys = new_task();
            keys.push(("id", Optional, Schema::text("Its id, where other tasks of the batch name it")));
            keys
        }),
    );
    vec![
        tool(
            "init_coordination",
            "Leader: begin, with a goal and a plan.",
            Changes,
            (vec![goal(), plan], vec![goal()]),
        ),
        tool("create_task", "Leader: add one task.", Changes, (new_task(), moved())),
        tool(
            "create_tasks_batch",
            "Leader: add several tasks at once, all or none.",
            Changes,
            (vec![("tasks", Required, batch)], vec![("task_ids", Required, texts(""))]),
        ),
    ]
}

fn watching() -> Vec<Tool> {
    let count = |name| (name, Required, Schema::count(""));
    let agents = Schema::object(["total", "leaders", "workers", "active"].map(count));
    let status = vec![
        ("goal", Required, Schema::text("")),
        ("tasks", Required, Schema::object([])),
        count("total_tasks"),
        ("progress_percent", Required, Schema::number("")),
        ("agents", Required, agents),
        count("discoveries_count"),
        ("last_activity", Required, Schema::text("")),
    ];
    let filter = ("status_filter", Optional, Schema::choice("", &STATUSES).or("all".into()));
    let result = Schema::object([task_id(), ("status", Required, Schema::text(""))]);
    vec![
        tool("get_status", "Goal, tasks by status, agents.", Reads, (vec![], status)),
        tool(
            "get_all_tasks",
            "The tasks, all or those of one status.",
            Reads,
            (vec![filter], vec![("tasks", Required, Schema::list("", task())), count("total")]),
        ),
        tool(
            "get_results",
            "What came of tasks that are done or failed.",
            Reads,
            (
                vec![("task_ids", Optional, texts("Which; without it all"))],
                vec![("results", Required, Schema::list("", result))],
            ),
        ),
    ]
}

fn working() -> Vec<Tool> {
    let role = || ("role", Required, Schema::choice("", &["leader", "worker"]));
    let files = |name, description| (name, Optional, texts(description));
    let claim =
        vec![("claimed", Required, Schema::flag("Whether there was one")), ("task", Optional, task())];
    let done = vec![
        agent_id(),
        task_id(),
        ("output", Required, Schema::text("What came of it, for the leader")),
        files("files_modified", ""),
        files("files_created", ""),
    ];
    let mut freed = moved();
    freed.push(("freed", Required, texts("Tasks that waited for this one and can be claimed now")));
    let failed = vec![agent_id(), task_id(), ("error", Required, Schema::text("Why"))];
    vec![
        tool(
            "register_agent",
            "Say that you take part.",
            ChangesOnce,
            (vec![agent_id(), role()], vec![agent_id(), role()]),
        ),
        tool("claim_task", "Worker: take the next task.", Changes, (vec![agent_id()], claim)),
        tool(
            "start_task",
            "Worker: begin the task that you hold.",
            Changes,
            (vec![agent_id(), task_id()], moved()),
        ),
        tool("complete_task", "Worker: the task is done.", Changes, (done, freed)),
        tool("fail_task", "Worker: the task cannot be done.", Changes, (failed, moved())),
        tool(
            "heartbeat",
            "Say that you are still at work.",
            ChangesOnce,
            (vec![agent_id()], vec![agent_id()]),
        ),
    ]
}

fn sharing() -> Vec<Tool> {
    let content = || ("content", Required, Schema::text(""));
    let tags = |description| ("tags", Optional, texts(description));
    let discovery = Schema::object([("id", Required, Schema::text("")), agent_id(), content()]);
    vec![
        tool(
            "add_discovery",
            "Tell all agents what they must know.",
            Changes,
            (vec![agent_id(), content(), tags("")], vec![("discovery_id", Required, Schema::text(""))]),
        ),
        tool(
            "get_discoveries",
            "What others found, the latest first.",
            Reads,
            (
                vec![
                    tags("Only those with one of these"),
                    ("limit", Optional, Schema::between("", 1, 1000).or(20.into())),
                ],
                vec![("discoveries", Required, Schema::list("", discovery))],
            ),
        ),
        tool(
            "get_master_plan",
            "Goal and plan.",
            Reads,
            (vec![], vec![("goal", Required, Schema::text("")), ("master_plan", Required, Schema::text(""))]),
        ),
    ]
}

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
    /// Other tasks of the same batch may name it.
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
