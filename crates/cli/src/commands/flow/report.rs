//! The answers of `stepmark flow`, and `stepmark flow events`.

use std::{
    collections::{BTreeSet, HashSet},
    sync::mpsc,
    time::Duration,
};

use clap::Args;
use jiff::Timestamp;
use serde_json::{Map, Value as Json};
use stepmark_frontmatter::Change;

use super::flow_id;
use crate::{
    exit::{Exit, Failure, chain},
    output::{ListArguments, Output, Row, on_one_line, table, wire::Open},
    project::Project,
    watch::journal_folders,
};
use stepmark_model::{
    artifact::ProjectPath,
    flows::{
        Attempt, FlowFact, FlowRecord, FlowState, FollowingEvent, Graph, Verification, Why, allows,
        following_events,
    },
    journal::{Actor, EventId, Kind},
    spelling::{argument, listed},
};
use stepmark_store::{
    configuration::Repository,
    flows::{Constitution, FlowEvent, Flows},
    watching::{ProjectWatch, WatchChoice},
};

pub(super) fn wire(record: &FlowRecord) -> Json {
    Json::Object(record.values().clone())
}

answers! { Answer<'a>
    /// `flow show FLOW`, `create`, `start`, `pause`, `resume`, `abort`: a flow with its tasks
    "stepmark.flow/1" Flow { flow: Json, tasks: Vec<Json>, project: Option<&'a Context> }
    /// `flow show`: all flows
    "stepmark.flows/1" Flows { flows: Vec<Json> }
    /// `flow graph`: a graph of tasks
    "stepmark.flow-graph/1" Graph { graph: &'a Graph }
    /// `flow next`: the tasks that can be claimed
    "stepmark.flow-next/1" Next { flow: &'a str, status: &'a str, tasks: Vec<Json> }
    /// `flow next --claim`, `attempt start`, `attempt end`, `verify`, `retry`, `escalate`, `abort-task`: a
    /// task as it is now
    "stepmark.flow-task/1" Task { task: Json }
    /// `flow attempt list`: the attempts at a task, with their verifications
    "stepmark.flow-attempts/1" Attempts {
        task: &'a str, attempts: &'a [Attempt], verifications: &'a [Verification],
    }
    /// `flow attempt show`: an attempt with its verification
    "stepmark.flow-attempt/1" Attempt {
        task: &'a str, attempt: &'a Attempt, verification: Option<&'a Verification>,
    }
    /// `flow why`: why a task is in its status
    "stepmark.flow-why/1" Why (&'a Why)
    /// `flow events`: the events of a flow, the first first
    "stepmark.flow-events/1" Events { events: Vec<Row<EventRow<'a>>>, more: usize }
    /// `flow replay`: how the records of a flow stand to their events
    "stepmark.flow-replay/1" Replay {
        flow: &'a str, is_equal: bool, events: usize, event_log: &'a BTreeSet<String>,
        records: Vec<ReplayRow<'a>>,
    }
    /// `flow accept`, `restore`: the records on which a person decided
    "stepmark.flow-decided/1" Decided { flow: &'a str, decision: &'a str, records: &'a [ProjectPath] }
    /// `flow diff`: what a task has changed, by its checkpoints
    "stepmark.flow-diff/1" Diff { flow: &'a str, task: &'a str, files: &'a [String], patch: &'a str }
    // The facts about the project, which stand in no record of a flow.
    struct Context {
        pub(super) project_id: Option<String>, pub(super) name: Option<String>,
        pub(super) constitution: Option<Constitution>, pub(super) repositories: Vec<Repository>,
        pub(super) documents: Vec<ProjectPath>,
    }
    struct EventRow<'a> {
        id: &'a EventId, at: &'a Timestamp, kind: Open<&'a Kind>, actor: Open<&'a Actor>,
        path: &'a ProjectPath, command: Option<&'a str>, reason: Option<&'a str>,
        data: Open<&'a Map<String, Json>>, following: &'a [FollowingEvent],
    }
    struct ReplayRow<'a> {
        pub(super) path: &'a ProjectPath, pub(super) state: &'static str, pub(super) events: usize,
        pub(super) changes: Open<&'a [Change]>, pub(super) damage: Vec<String>,
    }
}

pub(super) fn flow(state: &FlowState, context: Option<&Context>, output: &Output) -> Exit {
    output.answer(|| Answer::Flow {
        flow: wire(&state.flow),
        tasks: state.tasks.iter().map(wire).collect(),
        project: context,
    });
    output.line(summary(state));
    if let Some(own) = context.and_then(|context| context.constitution.as_ref()) {
        let digest = own.digest.map(|digest| digest.to_string());
        let said = [own.schema_version.clone(), own.updated_at.clone(), digest].into_iter().flatten();
        let said = said.collect::<Vec<_>>().join(", ");
        let said = if said.is_empty() { "missing".to_owned() } else { said };
        output.line(format_args!("constitution  {}  {}", own.path, on_one_line(&said)));
    }
    let row = |task: &FlowRecord| {
        let agent = task.open_attempt().map_or_else(|| "-".to_owned(), |attempt| attempt.agent);
        let tried = format!("{}/{}", task.number("attempt_count"), task.number("max_attempts"));
        let title = task.text("title").to_owned();
        vec![task.task().to_owned(), task.status().to_owned(), tried, agent, title]
    };
    output.line(table(&["TASK", "STATUS", "ATTEMPTS", "AGENT", "TITLE"], state.tasks.iter().map(row)));
    Exit::Fine
}

pub(super) fn flows(states: &[FlowState], output: &Output) -> Exit {
    output.answer(|| Answer::Flows { flows: states.iter().map(|state| wire(&state.flow)).collect() });
    states.iter().for_each(|state| output.line(summary(state)));
    Exit::Fine
}

fn summary(state: &FlowState) -> String {
    let done = state.tasks.iter().filter(|task| task.status() == "SUCCESS").count();
    let flow = &state.flow;
    let graph = format!("{} v{}", flow.text("graph"), flow.number("graph_version"));
    format!("{}  {}  {done}/{}  {graph}", flow.id(), flow.status(), state.graph.tasks.len())
}

pub(super) fn task(record: &FlowRecord, output: &Output) -> Exit {
    output.answer(|| Answer::Task { task: wire(record) });
    let attempt = record.open_attempt();
    let attempt = attempt.map_or_else(String::new, |open| format!("  {}, {}", open.attempt_id, open.agent));
    output.line(format_args!("{}  {}{attempt}  {}", record.id(), record.status(), record.text("title")));
    let reason = record.text("blocking_reason");
    if !reason.is_empty() {
        output.remark(format_args!("  {reason}"));
    }
    Exit::Fine
}

pub(super) fn checkpoint(record: &FlowRecord, files: &[String], output: &Output) {
    if let Some(commit) = record.checkpoints().last().filter(|_| !output.json) {
        output.line(format_args!("commit {commit}"));
    }
    let scopes = record.scopes().write;
    for path in files.iter().filter(|path| !scopes.is_empty() && !allows(&scopes, path)) {
        let again = format!("take it away, then `stepmark flow checkpoint {}`", argument(record.id()));
        output.warning(format_args!("the task may not write `{path}`: {again}"));
    }
}

pub(super) fn warn_without_checkpoint(flows: &Flows<'_>, record: &FlowRecord, output: &Output) {
    let files = match flows.changed_since_checkpoint(record) {
        Ok(files) if files.is_empty() => return,
        Ok(files) => files,
        Err(error) => {
            let error = chain(&error);
            return output.warning(format_args!("cannot tell whether its checkpoint has all: {error}"));
        }
    };
    let cure = match record.status() {
        "VERIFYING" => {
            format!(": `stepmark flow checkpoint {}` before it is verified", argument(record.id()))
        }
        _ => String::new(),
    };
    let since = if record.lacks_checkpoint() { "no checkpoint" } else { "changed after the last checkpoint" };
    output.warning(format_args!(
        "{since}, so that a merge of the flow leaves out {}{cure}",
        listed(&shortened(&files))
    ));
}

fn shortened(files: &[String]) -> Vec<String> {
    const SHOWN: usize = 5;
    let more = files.len().checked_sub(SHOWN).filter(|more| *more > 0);
    let shown = files.iter().take(SHOWN).cloned();
    shown.chain(more.map(|more| format!("{more} others"))).collect()
}

pub(super) fn attempts(record: &FlowRecord, output: &Output) -> Exit {
    let judged = record.verifications();
    let all: Vec<Attempt> = record.attempts().into_iter().chain(record.open_attempt()).collect();
    output.answer(|| Answer::Attempts { task: record.id(), attempts: &all, verifications: &judged });
    for attempt in &all {
        let judged = judged.iter().find(|judged| judged.attempt_id == attempt.attempt_id);
        output.line(attempt_line(attempt, judged));
    }
    if all.is_empty() {
        output.remark("nobody has tried it");
    }
    Exit::Fine
}

pub(super) fn attempt_line(attempt: &Attempt, judged: Option<&Verification>) -> String {
    let outcome = match (&attempt.ended_at, attempt.exit_status, judged) {
        (None, ..) => "open",
        (Some(_), None, _) => "interrupted",
        (Some(_), Some(_), Some(judged)) if judged.failure_reasons.is_empty() => "passed",
        (Some(_), Some(_), Some(_)) => "failed",
        (Some(_), Some(_), None) => "waits for its verification",
    };
    let ended = attempt.ended_at.as_deref().unwrap_or("-");
    format!("{}  {}  {} … {ended}  {outcome}", attempt.attempt_id, attempt.agent, attempt.started_at)
}

/// Events are read this often even without a notification.
const REGULARLY: Duration = Duration::from_secs(5);

const SETTLED: Duration = Duration::from_millis(15);

/// List the events of a flow, the first first, and what follows from each: tasks that are ready or blocked
#[derive(Debug, Args)]
pub(super) struct Events {
    /// The flow
    flow: String,
    /// Go on with new events as they are written, until interrupted; with --json an answer a line
    #[arg(long, conflicts_with = "limit")]
    follow: bool,
    #[command(flatten)]
    list: ListArguments,
}

type Told = (FlowEvent, Vec<FollowingEvent>);

impl Events {
    pub(super) fn run(&self, flows: &Flows<'_>, project: &Project, output: &Output) -> Result<Exit, Failure> {
        if self.follow {
            return self.followed(flows, project, output);
        }
        let mut all = self.all(flows)?;
        let answer = |events, more| Answer::Events { events, more };
        self.list.answer(output, &mut all, EventRow::of, answer, |told| {
            told.iter().for_each(|told| output.line(line(told)));
        })?;
        Ok(Exit::Fine)
    }

    fn all(&self, flows: &Flows<'_>) -> Result<Vec<Told>, Failure> {
        let flow = flow_id(flows, &self.flow)?;
        let events = flows.events(&flow)?;
        let following = following_events(&flows.state(&flow)?, events.iter().map(fact));
        Ok(events.into_iter().zip(following).collect())
    }

    fn followed(&self, flows: &Flows<'_>, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let (sender, changes) = mpsc::channel();
        let beside = journal_folders(&project.workspace).to_vec();
        let choice = WatchChoice { beside, ..WatchChoice::default() };
        // Ignored: events are polled anyway.
        let _watch = ProjectWatch::start(&project.workspace, choice, move |_| {
            let _heard = sender.send(());
        });
        let mut known = HashSet::new();
        while output.is_read() {
            let mut new = self.all(flows)?;
            new.retain(|(told, _)| known.insert(told.event.id));
            for told in &new {
                let events = self.list.keep_fields([EventRow::of(told)])?;
                output.answer(|| Answer::Events { events, more: 0 });
                output.line(line(told));
            }
            if changes.recv_timeout(REGULARLY).is_ok() {
                while changes.recv_timeout(SETTLED).is_ok() {}
            }
        }
        Ok(Exit::Fine)
    }
}

fn fact(told: &FlowEvent) -> FlowFact {
    let event = &told.event;
    let said = |key: &str| event.data.get(key).and_then(Json::as_str).map(str::to_owned);
    FlowFact {
        kind: event.kind.as_str().to_owned(),
        command: event.command.clone(),
        task: event.context().task,
        to: said("to"),
        constitution: said("constitution"),
    }
}

impl<'a> EventRow<'a> {
    fn of((told, following): &'a Told) -> Self {
        let event = &told.event;
        Self {
            id: &event.id,
            at: &event.at,
            kind: Open(&event.kind),
            actor: Open(&event.actor),
            path: &told.path,
            command: event.command.as_deref(),
            reason: event.reason.as_deref(),
            data: Open(&event.data),
            following,
        }
    }
}

fn line((told, following): &Told) -> String {
    let event = &told.event;
    let context = event.context();
    let about = context.task.or(context.flow).unwrap_or_else(|| told.path.to_string());
    let also = event.data.get("then").and_then(Json::as_str).map(str::to_owned);
    let of = |one: &FollowingEvent| match &one.task {
        Some(task) => format!("{} {task}", one.kind),
        None => one.kind.to_owned(),
    };
    let also: String =
        also.into_iter().chain(following.iter().map(of)).map(|told| format!(", {told}")).collect();
    let id = event.id.to_string();
    format!("{}  {}  {about}  {}{also}  {}", event.at, &id[..8], event.kind.as_str(), event.actor)
}
