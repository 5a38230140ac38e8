//! Moves of flows.

use super::refusal::legal_moves;
use super::verifying::close_attempt;
use super::{FlowKind, FlowRecord, FlowRefusal, FlowState, Graph, HumanAction, MergePlan, TaskDefinition};
use crate::lifecycle::{Guard, built_in};
use serde_json::{Map, Value as Json, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowMove {
    Start,
    Pause,
    Resume,
    Abort,
    Complete,
    ApproveMerge,
    RejectMerge,
    Merge,
}

impl FlowMove {
    /// Its name as a command.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Abort => "abort",
            Self::Complete => "complete",
            Self::ApproveMerge => "merge approve",
            Self::RejectMerge => "merge reject",
            Self::Merge => "merge apply",
        }
    }

    /// The statuses out of which it leads, the one that it leads into, and how history calls it.
    const fn way(self) -> (&'static [&'static str], &'static str, &'static str) {
        match self {
            Self::Start => (&["CREATED"], "RUNNING", "flow-started"),
            Self::Pause => (&["RUNNING"], "PAUSED", "flow-paused"),
            Self::Resume => (&["PAUSED"], "RUNNING", "flow-resumed"),
            Self::Abort => (&["CREATED", "RUNNING", "PAUSED"], "ABORTED", "flow-aborted"),
            Self::Complete => (&["RUNNING"], "COMPLETED", "flow-completed"),
            Self::ApproveMerge => (&["FROZEN_FOR_MERGE"], "FROZEN_FOR_MERGE", "merge-approved"),
            Self::RejectMerge => (&["FROZEN_FOR_MERGE"], "COMPLETED", "merge-rejected"),
            Self::Merge => (&["FROZEN_FOR_MERGE"], "MERGED", "integration-commit"),
        }
    }

    /// The act, where only a person may make the move.
    const fn human_action(self) -> Option<&'static str> {
        match self {
            Self::Pause => Some("pause a flow"),
            Self::Resume => Some("resume a flow"),
            Self::Abort => Some("abort a flow"),
            Self::ApproveMerge => Some("approve a merge"),
            Self::RejectMerge => Some("reject a merge"),
            Self::Start | Self::Complete | Self::Merge => None,
        }
    }
}

/// Decides on a move of the flow.
pub fn move_flow(state: &FlowState, made: FlowMove, acting: &Acting) -> Result<RecordChange, FlowRefusal> {
    let before = &state.flow;
    let (from, to, event) = made.way();
    check_status(before, FlowKind::Flow, made.name(), from)?;
    if let Some(action) = made.human_action() {
        acting.must_be_human(action, FlowKind::Flow, before)?;
    }
    if matches!(made, FlowMove::Start | FlowMove::Complete) {
        state.check_graph()?;
    }
    let mut after = before.clone();
    after.set("status", to);
    match made {
        FlowMove::Start => after.set("started_at", acting.now.as_str()),
        FlowMove::Pause => after.push("paused_at", &acting.now),
        FlowMove::Resume => after.push("resumed_at", &acting.now),
        FlowMove::Abort => after.set("ended_at", acting.now.as_str()),
        FlowMove::Complete => {
            let open = state.unfinished();
            if !open.is_empty() {
                return Err(FlowRefusal::Incomplete { flow: before.id().to_owned(), open });
            }
            after.set("ended_at", acting.now.as_str());
        }
        FlowMove::ApproveMerge => {
            let plan: MergePlan = before.part("merge");
            if !plan.conflicts.is_empty() {
                return Err(FlowRefusal::Conflicts { flow: before.id().to_owned(), files: plan.conflicts });
            }
            let approval = json!({
                "to": "MERGED", "by": acting.actor, "decided_at": acting.now, "plan": plan.digest(),
            });
            after.set("approval", approval);
        }
        FlowMove::RejectMerge => after.unset("approval"),
        FlowMove::Merge => {
            let flow = before.id().to_owned();
            let Some(approval) = before.values().get("approval") else {
                return Err(FlowRefusal::NotApproved { flow });
            };
            if approval["plan"] != before.part::<MergePlan>("merge").digest() {
                return Err(FlowRefusal::OtherPlan { flow });
            }
        }
    }
    if made.human_action().is_some() {
        after.push("human_actions", acting.action(made.name()));
    }
    Ok(RecordChange::new(before, after, event))
}

/// Keeps the merge of a complete flow as it was prepared: it waits for the approval of a person.
pub fn prepare_merge(
    state: &FlowState,
    plan: &MergePlan,
    acting: &Acting,
) -> Result<RecordChange, FlowRefusal> {
    let before = &state.flow;
    check_status(before, FlowKind::Flow, "merge prepare", &["COMPLETED"])?;
    let mut after = before.clone();
    after.set("status", "FROZEN_FOR_MERGE");
    after.set("merge", serde_json::to_value(plan).unwrap_or_default());
    after.unset("approval");
    Ok(RecordChange::new(before, after, "merge-prepared").with("by", acting.actor.as_str()))
}

/// The actor, the time and the reason of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acting {
    /// The actor, `human:Ada`.
    pub actor: String,
    /// The time (RFC 3339).
    pub now: String,
    pub reason: Option<String>,
}

/// A record as it is to be, and what history is told.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordChange {
    /// The record after the change.
    pub record: FlowRecord,
    pub event: &'static str,
    pub facts: Map<String, Json>,
    /// True if a person insists on what a guard stands against.
    pub is_override: bool,
}

impl Acting {
    /// Returns whether a person acts.
    pub fn is_human(&self) -> bool {
        self.actor.starts_with("human:")
    }

    /// Refuses `action` where no person acts; what anybody may do to `record` is named.
    pub(super) fn must_be_human(
        &self,
        action: &'static str,
        kind: FlowKind,
        record: &FlowRecord,
    ) -> Result<(), FlowRefusal> {
        if self.is_human() {
            return Ok(());
        }
        let table = built_in(kind.lifecycle());
        let is_free = |to: &String| {
            let verdict = table.and_then(|table| table.legal_move(Some(record.status()), to, None).ok());
            verdict.is_some_and(|verdict| !verdict.wants(&Guard::Human))
        };
        let legal = legal_moves(kind, record.status()).into_iter().filter(is_free).collect();
        Err(FlowRefusal::NotHuman { action, actor: self.actor.clone(), legal })
    }

    /// The act, as records keep it.
    pub(super) fn action(&self, action: &str) -> HumanAction {
        HumanAction {
            action: action.to_owned(),
            actor: self.actor.clone(),
            decided_at: self.now.clone(),
            reason: self.reason.clone(),
        }
    }
}

impl RecordChange {
    /// A change that is told as `event`, of the status `from` where it moves.
    pub(super) fn new(before: &FlowRecord, record: FlowRecord, event: &'static str) -> Self {
        let mut facts = Map::new();
        if before.status() != record.status() {
            facts.insert("from".to_owned(), before.status().into());
            facts.insert("to".to_owned(), record.status().into());
        }
        Self { record, event, facts, is_override: false }
    }

    /// A record that is new.
    pub fn created(record: FlowRecord, event: &'static str) -> Self {
        Self { record, event, facts: Map::new(), is_override: false }
    }

    /// The same with one more fact.
    pub(super) fn with(mut self, name: &str, fact: impl Into<Json>) -> Self {
        self.facts.insert(name.to_owned(), fact.into());
        self
    }
}

/// Refuses a move of a record that is in another status than those of `wanted`.
pub(super) fn check_status(
    record: &FlowRecord,
    kind: FlowKind,
    made: &'static str,
    wanted: &'static [&'static str],
) -> Result<(), FlowRefusal> {
    if wanted.contains(&record.status()) {
        return Ok(());
    }
    let (id, status) = (record.id().to_owned(), record.status().to_owned());
    Err(FlowRefusal::Status { kind, id, status, made, wanted })
}

/// Gives the task `task`, which failed, to a person.
pub fn escalate(state: &FlowState, task: &str) -> Result<RecordChange, FlowRefusal> {
    let before = state.task(task)?;
    check_status(before, FlowKind::Execution, "escalate", &["FAILED"])?;
    let mut after = before.clone();
    after.set("status", "ESCALATED");
    Ok(RecordChange::new(before, after, "task-escalated"))
}

/// Returns whether the graph wants `task` to be given to a person: it failed, and none gave it up.
pub(super) fn wants_person(state: &FlowState, task: &FlowRecord) -> bool {
    let definition = state.graph.task(task.task());
    let is_given_up = || task.human_actions().last().is_some_and(|action| action.action == "abort-task");
    task.status() == "FAILED" && definition.is_some_and(|task| task.retry.escalate) && !is_given_up()
}

/// Lets the task `task`, which failed, be tried again; a person may allow more attempts.
pub fn retry(
    state: &FlowState,
    task: &str,
    max_attempts: Option<u64>,
    acting: &Acting,
) -> Result<RecordChange, FlowRefusal> {
    let before = state.task(task)?;
    check_status(before, FlowKind::Execution, "retry", &["FAILED", "ESCALATED"])?;
    acting.must_be_human("try it again", FlowKind::Execution, before)?;
    check_status(&state.flow, FlowKind::Flow, "retry", &["CREATED", "RUNNING", "PAUSED"])?;
    let (count, most) = (before.number("attempt_count"), before.number("max_attempts"));
    let most = max_attempts.unwrap_or_else(|| most.max(count + 1));
    if count >= most {
        return Err(FlowRefusal::Exhausted { task: task.to_owned(), count, most });
    }
    let mut after = before.clone();
    after.set("status", "RETRY");
    after.set("max_attempts", most);
    after.push("human_actions", acting.action("retry"));
    Ok(RecordChange::new(before, after, "retry-scheduled"))
}

/// Gives the task `task` up: it fails, and is tried no more. An attempt that is open is cut off.
pub fn abort_task(state: &FlowState, task: &str, acting: &Acting) -> Result<RecordChange, FlowRefusal> {
    let before = state.task(task)?;
    let open = &["PENDING", "READY", "RUNNING", "RETRY", "VERIFYING"];
    check_status(before, FlowKind::Execution, "abort-task", open)?;
    acting.must_be_human("abort a task", FlowKind::Execution, before)?;
    let mut after = before.clone();
    after.set("status", "FAILED");
    close_attempt(&mut after, None, None, &acting.now);
    after.set("blocking_reason", format!("given up by `{}`", acting.actor));
    after.push("human_actions", acting.action("abort-task"));
    Ok(RecordChange::new(before, after, "task-aborted"))
}

/// Takes a record as it is that was edited by other means.
pub fn accept(record: &FlowRecord, kind: FlowKind, acting: &Acting) -> Result<RecordChange, FlowRefusal> {
    acting.must_be_human("accept what was edited by other means", kind, record)?;
    let mut after = record.clone();
    after.push("human_actions", acting.action("accept"));
    Ok(RecordChange::new(record, after, "human-override"))
}

impl FlowState {
    /// The tasks that failed and that the graph wants a person to look at.
    pub fn to_escalate(&self) -> Vec<&FlowRecord> {
        self.tasks.iter().filter(|task| wants_person(self, task)).collect()
    }
}

/// The record of a graph that may still change.
pub fn graph_record(graph: &Graph, acting: &Acting) -> FlowRecord {
    let values = json!({
        // A version is a record of its own: no other record of the project has its id.
        "id": format!("{}@v{}", graph.id, graph.version),
        "graph": graph.id,
        "title": graph.title,
        "version": graph.version,
        "status": "DRAFT",
        "created_by": acting.actor,
        "created_at": acting.now,
        "tasks": graph.tasks,
    });
    FlowRecord::new(FlowKind::Graph, values)
}

/// A graph of which a flow is made: it never changes again.
pub fn freeze(graph: &FlowRecord) -> RecordChange {
    let mut after = graph.clone();
    after.set("status", "FROZEN");
    RecordChange::new(graph, after, "graph-frozen")
}

/// The record of a new flow of a graph.
pub fn flow_record(id: &str, title: &str, graph: &Graph, acting: &Acting) -> FlowRecord {
    let tasks: Vec<String> = graph.tasks.iter().map(|task| format!("{id}.{}", task.id)).collect();
    let values = json!({
        "id": id,
        "title": title,
        "graph": graph.id,
        "graph_version": graph.version,
        "graph_digest": graph.digest(),
        "status": "CREATED",
        "created_at": acting.now,
        "paused_at": [],
        "resumed_at": [],
        "tasks": tasks,
        "human_actions": [],
    });
    FlowRecord::new(FlowKind::Flow, values)
}

pub fn execution_record(flow: &str, task: &TaskDefinition) -> FlowRecord {
    let depends_on: Vec<String> = task.depends_on.iter().map(|id| format!("{flow}.{id}")).collect();
    let values = json!({
        "id": format!("{flow}.{}", task.id),
        "flow": flow,
        "task": task.id,
        "title": if task.title.is_empty() { &task.id } else { &task.title },
        "status": "PENDING",
        "depends_on": depends_on,
        "required_scopes": task.required_scopes,
        "max_attempts": task.retry.max_attempts,
        "attempt_count": 0,
        "attempts": [],
        "verifications": [],
        "human_actions": [],
    });
    FlowRecord::new(FlowKind::Execution, values)
}
