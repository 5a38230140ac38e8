//! Moves of flows.

use super::{
    FlowKind, FlowRecord, FlowState, Graph, GraphProblem, HumanAction, MergePlan, TaskDefinition,
    verifying::close_attempt,
};
use crate::{
    lifecycle::{Guard, MoveRefusal, built_in},
    packs::{MoveCall, Refused},
    spelling::{besides, listed},
};
use serde_json::{Map, Value as Json, json};

pub fn make(
    state: &FlowState,
    task: Option<&str>,
    made: &MoveCall,
    acting: &Acting,
) -> Result<RecordChange, FlowRefusal> {
    let (kind, before) = match task {
        Some(task) => (FlowKind::Execution, state.task(task)?),
        None => (FlowKind::Flow, &state.flow),
    };
    let mut call = made.clone().with("actor", &*acting.actor).with("now", &*acting.now);
    let (count, most) = (before.number("attempt_count"), before.number("max_attempts"));
    match &*made.name {
        "merge-approve" => call = call.with("plan", before.part::<MergePlan>("merge").digest()),
        "retry" if made.given.get("max_attempts").is_none() => {
            call = call.with("max_attempts", most.max(count + 1));
        }
        "abort-task" => call = call.with("why", format!("given up by `{}`", acting.actor)),
        _ => {}
    }
    if let Some(reason) = &acting.reason {
        call = call.with("reason", &**reason);
    }
    let Some(table) = built_in(kind.lifecycle()) else {
        return Ok(RecordChange::new(before, before.clone(), event(&made.name)));
    };
    let unmet = |guard: &Guard| unmet(guard, (state, kind, before), &call, acting);
    let writes = table.make((before.status(), before.values()), &call, unmet);
    let writes = writes.map_err(|refused| match refused {
        Refused::Guard(refusal, others) if others.is_empty() => refusal,
        Refused::Guard(refusal, others) => FlowRefusal::Several { first: Box::new(refusal), others },
        Refused::Move(refusal) => match *refusal {
            MoveRefusal::NotFrom { made, wanted, .. } => {
                of_status(before, kind, &made.replacen("merge-", "merge ", 1), wanted)
            }
            other => FlowRefusal::Move(Box::new(other)),
        },
    })?;
    let mut after = before.clone();
    writes.into_iter().for_each(|write| after.write(write));
    if made.name == "abort-task" {
        close_attempt(&mut after, None, None, &acting.now);
    }
    let change = RecordChange::new(before, after, event(&made.name));
    Ok(if made.name == "merge-prepare" { change.with("by", acting.actor.as_str()) } else { change })
}

fn event(made: &str) -> &'static str {
    match made {
        "start" => "flow-started",
        "pause" => "flow-paused",
        "resume" => "flow-resumed",
        "abort" => "flow-aborted",
        "complete" => "flow-completed",
        "merge-prepare" => "merge-prepared",
        "merge-approve" => "merge-approved",
        "merge-reject" => "merge-rejected",
        "merge-apply" => "integration-commit",
        "claim" => "attempt-started",
        "retry" => "retry-scheduled",
        "escalate" => "task-escalated",
        "abort-task" => "task-aborted",
        _ => "flow-changed",
    }
}

fn unmet(
    guard: &Guard,
    (state, kind, before): (&FlowState, FlowKind, &FlowRecord),
    call: &MoveCall,
    acting: &Acting,
) -> Option<FlowRefusal> {
    let flow = state.flow.id().to_owned();
    let exhausted = |most: u64| {
        let (task, count) = (before.task().to_owned(), before.number("attempt_count"));
        (count >= most).then_some(FlowRefusal::Exhausted { task, count, most })
    };
    match guard {
        Guard::Human => {
            let moves = built_in(kind.lifecycle()).map(|table| table.named_moves()).unwrap_or_default();
            let made = moves.iter().find(|made| made.name == call.name)?;
            acting.must_be_human(made.about.as_deref().unwrap_or(&made.name), kind, before).err()
        }
        Guard::DependenciesDone(_) => {
            let open: Vec<String> = state.open_dependencies(before).into_iter().map(str::to_owned).collect();
            (!open.is_empty()).then(|| FlowRefusal::Waits { task: before.task().to_owned(), open })
        }
        Guard::Below(_) => exhausted(before.number("max_attempts")),
        Guard::Code(name) => match &**name {
            "graph" => state.check_graph().err(),
            "scopes" => state.check_scopes(before).err(),
            "open-flow" => {
                check_status(&state.flow, FlowKind::Flow, "retry", &["CREATED", "RUNNING", "PAUSED"]).err()
            }
            "attempts" => {
                exhausted(call.given.get("max_attempts").and_then(Json::as_u64).unwrap_or_default())
            }
            "unfinished" => {
                let open = state.unfinished();
                (!open.is_empty()).then_some(FlowRefusal::Incomplete { flow, open })
            }
            "conflicts" => {
                let files = before.part::<MergePlan>("merge").conflicts;
                (!files.is_empty()).then_some(FlowRefusal::Conflicts { flow, files })
            }
            "approval" => match before.values().get("approval") {
                None => Some(FlowRefusal::NotApproved { flow }),
                Some(approval) => {
                    let is_approved = approval["plan"] == before.part::<MergePlan>("merge").digest();
                    (!is_approved).then_some(FlowRefusal::OtherPlan { flow })
                }
            },
            _ => Some(FlowRefusal::Move(Box::new(guard.unknown_in(&call.name)))),
        },
        _ => Some(FlowRefusal::Move(Box::new(guard.unknown_in(&call.name)))),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acting {
    /// `human:Ada`
    pub actor: String,
    /// RFC 3339.
    pub now: String,
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RecordChange {
    pub record: FlowRecord,
    pub event: &'static str,
    pub facts: Map<String, Json>,
    /// A person overrides a guard.
    pub is_override: bool,
}

impl Acting {
    pub fn is_human(&self) -> bool {
        self.actor.starts_with("human:")
    }

    /// The error lists what anybody may do to `record`.
    pub(super) fn must_be_human(
        &self,
        action: &str,
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
        Err(FlowRefusal::NotHuman { action: action.to_owned(), actor: self.actor.clone(), legal })
    }

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
    /// `event` names it; with `from` status if it moves.
    pub(super) fn new(before: &FlowRecord, record: FlowRecord, event: &'static str) -> Self {
        let mut facts = Map::new();
        if before.status() != record.status() {
            facts.insert("from".to_owned(), before.status().into());
            facts.insert("to".to_owned(), record.status().into());
        }
        Self { record, event, facts, is_override: false }
    }

    pub fn created(record: FlowRecord, event: &'static str) -> Self {
        Self { record, event, facts: Map::new(), is_override: false }
    }

    pub(super) fn with(mut self, name: &str, fact: impl Into<Json>) -> Self {
        self.facts.insert(name.to_owned(), fact.into());
        self
    }
}

pub(super) fn check_status(
    record: &FlowRecord,
    kind: FlowKind,
    made: &str,
    wanted: &[&str],
) -> Result<(), FlowRefusal> {
    match wanted.contains(&record.status()) {
        true => Ok(()),
        false => {
            Err(of_status(record, kind, made, wanted.iter().map(|status| (*status).to_owned()).collect()))
        }
    }
}

fn of_status(record: &FlowRecord, kind: FlowKind, made: &str, wanted: Vec<String>) -> FlowRefusal {
    let (id, status, made) = (record.id().to_owned(), record.status().to_owned(), made.to_owned());
    FlowRefusal::Status { kind, id, status, made, wanted }
}

pub(super) fn wants_person(state: &FlowState, task: &FlowRecord) -> bool {
    let definition = state.graph.task(task.task());
    let is_given_up = || task.human_actions().last().is_some_and(|action| action.action == "abort-task");
    task.status() == "FAILED" && definition.is_some_and(|task| task.retry.escalate) && !is_given_up()
}

/// Takes the record as edited outside of stepmark.
pub fn accept(record: &FlowRecord, kind: FlowKind, acting: &Acting) -> Result<RecordChange, FlowRefusal> {
    acting.must_be_human("accept what was edited by other means", kind, record)?;
    let mut after = record.clone();
    after.push("human_actions", acting.action("accept"));
    Ok(RecordChange::new(record, after, "human-override"))
}

impl FlowState {
    pub fn to_escalate(&self) -> Vec<&FlowRecord> {
        self.tasks.iter().filter(|task| wants_person(self, task)).collect()
    }
}

pub fn graph_record(graph: &Graph, acting: &Acting) -> FlowRecord {
    let values = json!({
        // Versions are records with unique ids.
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

/// A graph with a flow is immutable.
pub fn freeze(graph: &FlowRecord) -> RecordChange {
    let mut after = graph.clone();
    after.set("status", "FROZEN");
    RecordChange::new(graph, after, "graph-frozen")
}

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

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowRefusal {
    #[error("only a person may {action}, and `{actor}` is none: ask one")]
    NotHuman {
        action: String,
        actor: String,
        /// For anybody.
        legal: Vec<String>,
    },
    #[error(
        "`{id}` is `{status}`, and `{made}` is for those that are {}: {}",
        listed(wanted),
        ways(*kind, status)
    )]
    Status { kind: FlowKind, id: String, status: String, made: String, wanted: Vec<String> },
    #[error("{first}{}", besides(others))]
    Several { first: Box<Self>, others: Vec<Self> },
    #[error(transparent)]
    Move(Box<MoveRefusal>),
    #[error("the task `{task}` waits for {}", listed(open))]
    Waits { task: String, open: Vec<String> },
    #[error("the task `{task}` wants `{wanted}`, and `{other}`, which is running, wants `{taken}`")]
    ScopeTaken { task: String, wanted: String, other: String, taken: String },
    #[error("the task `{task}` was tried {count} times, and `max_attempts` allows {most}")]
    Exhausted { task: String, count: u64, most: u64 },
    #[error("`{given}` is not the one that counts: that is `{counts}`, {of}")]
    OtherAttempt { given: String, counts: String, of: String },
    #[error("the flow `{flow}` has no task `{task}`")]
    NoTask { flow: String, task: String },
    #[error("the check `{check}` of the task `{task}` has no result, and it is required")]
    NoResult { task: String, check: String },
    #[error("the task `{task}` has no check `{check}`: it has {}", listed(known))]
    UnknownCheck { task: String, check: String, known: Vec<String> },
    #[error(
        "nothing says whether the attempt is good: the task `{task}` has no check, and no verifier decided"
    )]
    NoJudgement { task: String },
    #[error("`{agent}` did the task `{task}`, and another one judges it; with `--run` its checks decide")]
    OwnWork { task: String, agent: String },
    #[error("the report has {bytes} bytes, and {most} are kept: put it into a file and name that")]
    TooLong { bytes: usize, most: usize },
    #[error("the graph `{graph}`, version {version}, was changed since the flow was made of it")]
    GraphChanged { graph: String, version: u64 },
    #[error("no task of `{flow}` can be claimed: {waiting} waiting, {running} running, {failed} failed")]
    NothingReady {
        flow: String,
        /// For other tasks, or for files.
        waiting: usize,
        running: usize,
        failed: usize,
    },
    #[error("the graph `{graph}` cannot be run")]
    Graph { graph: String, source: GraphProblem },
    #[error("the flow `{flow}` is not complete: {}", listed(open))]
    Incomplete { flow: String, open: Vec<String> },
    #[error("the task `{task}` got another checkpoint while it was verified")]
    CheckpointMeanwhile { task: String },
    #[error(
        "the merge of `{flow}` leaves out what these tasks did, since the last attempt has no checkpoint: {}",
        listed(tasks)
    )]
    NoCheckpoint { flow: String, tasks: Vec<String> },
    #[error("the merge of `{flow}` leaves conflicts in {}", listed(files))]
    Conflicts { flow: String, files: Vec<String> },
    #[error("the merge of `{flow}` is another one than a person approved")]
    OtherPlan { flow: String },
    #[error("the merge of `{flow}` was not approved by a person")]
    NotApproved { flow: String },
}

pub(super) fn legal_moves(kind: FlowKind, status: &str) -> Vec<String> {
    let table = built_in(kind.lifecycle());
    let moves = table.and_then(|table| Some(table.moves_from(table.state_of(status)?, None)));
    moves.unwrap_or_default().iter().map(|legal| legal.to.name.clone()).collect()
}

impl FlowRefusal {
    pub fn first(&self) -> &Self {
        if let Self::Several { first, .. } = self { first } else { self }
    }
}

fn ways(kind: FlowKind, status: &str) -> String {
    let legal = legal_moves(kind, status);
    match legal.is_empty() {
        true => format!("`{status}` is final"),
        false => format!("from `{status}` it goes to {}", listed(&legal)),
    }
}
