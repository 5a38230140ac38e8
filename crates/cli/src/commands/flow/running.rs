//! The commands of `stepmark flow` that create, start, pause, resume and abort a flow, intervene in one
//! (`retry`, `escalate`, `abort-task`, `accept`, `restore`) and look at one (`show`, `why`, `events`,
//! `replay`).

use std::collections::BTreeSet;

use clap::Subcommand;

use super::{
    ReasonedFlow, ReasonedTask, TaskArgument, agent,
    attempt::claim,
    flow_id, named,
    report::{self, Answer, Context, Events, ReplayRow},
};
use crate::{
    exit::{Exit, Failure, chain},
    output::{Output, history, on_one_line, replay::words, wire::Open},
    project::Project,
};
use stepmark_model::{
    artifact::ProjectPath, flows::why, journal::HistoryState, packs::MoveCall, spelling::argument,
};
use stepmark_store::{Error, flows::Flows, replay::Replayed};

#[derive(Debug, Subcommand)]
pub(super) enum Running {
    /// Make a flow of a version of a graph, which never changes from then on
    Create {
        /// The graph: its last version, or GRAPH@vN
        graph: String,
        /// The id of the flow; without it that of the graph
        #[arg(long)]
        id: Option<String>,
        /// The title
        #[arg(long)]
        title: Option<String>,
    },
    /// Let tasks be claimed
    Start {
        /// The flow
        flow: String,
    },
    /// Let no task be claimed until a person resumes the flow
    Pause(ReasonedFlow),
    /// Let tasks of a paused flow be claimed again
    Resume(ReasonedFlow),
    /// Give a flow up, with all its tasks that have not ended
    Abort(ReasonedFlow),
    /// Say which tasks can be claimed; with --claim, take one
    Next {
        #[command(flatten)]
        task: TaskArgument,
        /// Take the first of them, or the one that is named
        #[arg(long)]
        claim: bool,
        /// The agent; without it the actor of the command, if it is an agent
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
}

impl Running {
    pub(super) fn run(&self, flows: &Flows<'_>, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let (flow, made, reason) = match self {
            Self::Create { graph, id, title } => {
                let id = id.as_deref().or_else(|| graph.split('@').next()).unwrap_or(graph);
                let state = flows.create(graph, id, title.as_deref().unwrap_or(id))?;
                return Ok(report::flow(&state, None, output));
            }
            Self::Next { task, claim: false, .. } => {
                let (flow, task) = task.parts(flows)?;
                return next(flows, (&flow, task.as_deref()), output);
            }
            Self::Next { task, agent: named, .. } => {
                return claim(flows, task, agent(project, named.as_deref()), None, output);
            }
            Self::Start { flow } => (flow, "start", None),
            Self::Pause(ReasonedFlow { flow, reason }) => (flow, "pause", reason.as_deref()),
            Self::Resume(ReasonedFlow { flow, reason }) => (flow, "resume", reason.as_deref()),
            Self::Abort(ReasonedFlow { flow, reason }) => (flow, "abort", reason.as_deref()),
        };
        Ok(report::flow(&flows.make(&flow_id(flows, flow)?, made, reason)?, None, output))
    }

    pub(super) const fn writes(&self) -> bool {
        !matches!(self, Self::Next { claim: false, .. })
    }
}

fn next(flows: &Flows<'_>, (flow, task): (&str, Option<&str>), output: &Output) -> Result<Exit, Failure> {
    let state = flows.state(flow)?;
    if let Some(task) = task {
        state.task(task).map_err(stepmark_store::Error::from)?;
    }
    let mut ready = if state.flow.status() == "RUNNING" { state.ready() } else { Vec::new() };
    ready.retain(|own| task.is_none_or(|task| own.task() == task));
    output.answer(|| Answer::Next {
        flow: state.flow.id(),
        status: state.flow.status(),
        tasks: ready.iter().map(|task| report::wire(task)).collect(),
    });
    for task in &ready {
        output.line(format_args!("{}  {}", task.task(), task.text("title")));
    }
    let status = state.flow.status();
    match (ready.first(), task) {
        (Some(first), _) => {
            let id = argument(first.id());
            output.remark(format_args!("`stepmark flow next {id} --claim --agent ID` takes it"));
        }
        (None, Some(task)) => output.remark(format_args!(
            "it cannot be claimed now; `stepmark flow why {}` says why",
            argument(&format!("{flow}.{task}"))
        )),
        (None, None) => {
            let next = match status {
                "CREATED" => "start",
                "PAUSED" => "resume",
                _ => "show",
            };
            output.remark(format_args!(
                "no task can be claimed now; the flow is {status}: `stepmark flow {next} {}`",
                argument(flow)
            ));
        }
    }
    Ok(if ready.is_empty() { Exit::Findings } else { Exit::Fine })
}

#[derive(Debug, Subcommand)]
pub(super) enum Intervening {
    /// Let a task be tried again that failed; for people
    Retry {
        #[command(flatten)]
        task: TaskArgument,
        /// Allow so many attempts in all; without it one more than there were
        #[arg(long, value_name = "N")]
        max_attempts: Option<u64>,
        /// The reason
        #[arg(long)]
        reason: Option<String>,
    },
    /// Give a task that failed to a person
    Escalate(ReasonedTask),
    /// Give a task up: it fails, and its open attempt is cut off; for people
    AbortTask(ReasonedTask),
    /// Take records as they are that were edited by other means; for people
    Accept(ReasonedFlow),
    /// Bring records that were edited by other means back to what history tells; for people
    Restore(ReasonedFlow),
}

impl Intervening {
    pub(super) fn run(&self, flows: &Flows<'_>, output: &Output) -> Result<Exit, Failure> {
        let record = match self {
            Self::Retry { task, max_attempts, reason } => {
                let made = MoveCall::new("flow", "retry");
                let made = max_attempts.iter().fold(made, |made, most| made.with("max_attempts", *most));
                flows.make_of_task(named(&task.both(flows)?), &made, reason.as_deref())?
            }
            Self::Escalate(ReasonedTask { task, reason }) => flows.make_of_task(
                named(&task.both(flows)?),
                &MoveCall::new("flow", "escalate"),
                reason.as_deref(),
            )?,
            Self::AbortTask(ReasonedTask { task, reason }) => flows.make_of_task(
                named(&task.both(flows)?),
                &MoveCall::new("flow", "abort-task"),
                reason.as_deref(),
            )?,
            Self::Accept(ReasonedFlow { flow, reason }) => {
                let flow = flow_id(flows, flow)?;
                return Ok(decided(&flow, "accepted", &flows.accept(&flow, reason.as_deref())?, output));
            }
            Self::Restore(ReasonedFlow { flow, reason }) => {
                let flow = flow_id(flows, flow)?;
                return Ok(decided(&flow, "restored", &flows.restore(&flow, reason.as_deref())?, output));
            }
        };
        Ok(report::task(&record, output))
    }
}

fn decided(flow: &str, what: &str, paths: &[ProjectPath], output: &Output) -> Exit {
    output.answer(|| Answer::Decided { flow, decision: what, records: paths });
    paths.iter().for_each(|path| output.line(format_args!("{path}: {what}")));
    if paths.is_empty() {
        output.remark("no record was edited by other means");
    }
    Exit::Fine
}

#[derive(Debug, Subcommand)]
pub(super) enum Looking {
    /// Show a flow with its tasks; without a flow, all flows
    Show {
        /// The flow
        flow: Option<String>,
        /// As it was after this event
        #[arg(long, value_name = "EVENT", requires = "flow")]
        at: Option<String>,
    },
    /// Say why a task is in its status: what it waits for, which check failed, who stopped it
    Why(TaskArgument),
    Events(Events),
    /// Replay the events of a flow and compare with its records; ends with 1 where they differ
    Replay {
        /// The flow
        flow: String,
        /// Compare (it is always done)
        #[arg(long)]
        verify: bool,
    },
}

impl Looking {
    pub(super) fn run(&self, flows: &Flows<'_>, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match self {
            Self::Show { flow: Some(flow), at } => Ok(match at {
                Some(event) => report::flow(&flows.state_at(&flow_id(flows, flow)?, event)?, None, output),
                None => report::flow(
                    &flows.state(&flow_id(flows, flow)?)?,
                    Some(&context(flows, project)),
                    output,
                ),
            }),
            Self::Show { flow: None, .. } => {
                let warn = |id: &str, error: &Error| {
                    let back = format!("`stepmark flow restore {id}` brings back what was");
                    output.warning(format_args!("{}; {back}", chain(error)));
                };
                let state = |id: &String| flows.state(id).inspect_err(|error| warn(id, error)).ok();
                Ok(report::flows(&flows.ids().iter().filter_map(state).collect::<Vec<_>>(), output))
            }
            Self::Why(task) => {
                let (flow, task) = task.both(flows)?;
                let told = why(&flows.state(&flow)?, &task).map_err(stepmark_store::Error::from)?;
                output.answer(|| Answer::Why(&told));
                output.line(format_args!("{}  {}", told.task, told.status));
                told.reasons.iter().for_each(|reason| output.line(format_args!("  {reason}")));
                Ok(Exit::Fine)
            }
            Self::Events(events) => events.run(flows, project, output),
            Self::Replay { flow, .. } => {
                let flow = flow_id(flows, flow)?;
                let sessions = flows.events(&flow)?.into_iter().filter_map(|told| told.event.session);
                let sessions: BTreeSet<String> = sessions.collect();
                Ok(replayed((&flow, &sessions), &flows.replay(&flow)?, output))
            }
        }
    }
}

/// Facts of the project, which no record of a flow has.
fn context(flows: &Flows<'_>, project: &Project) -> Context {
    let configuration = project.workspace.configuration();
    Context {
        project_id: configuration.project_id.clone(),
        name: configuration.project.name.clone(),
        constitution: flows.constitution(),
        repositories: configuration.project.repositories.clone(),
        documents: configuration.project.documents.clone(),
    }
}

fn replayed<'a>(
    (flow, sessions): (&'a str, &'a BTreeSet<String>),
    records: &'a [Replayed],
    output: &Output,
) -> Exit {
    let word = |record: &Replayed| words(&record.state).0;
    let is_odd = |record: &&Replayed| {
        matches!(record.state, HistoryState::Unexplained { .. } | HistoryState::NoHistory)
            || !record.damage.is_empty()
    };
    let odd: Vec<&Replayed> = records.iter().filter(is_odd).collect();
    let events: usize = records.iter().map(|record| record.events).sum();
    let row = |record: &'a Replayed| ReplayRow {
        path: &record.path,
        state: word(record),
        events: record.events,
        changes: Open(&record.changes),
        damage: record.damage.iter().map(ToString::to_string).collect(),
    };
    output.answer(|| Answer::Replay {
        flow,
        is_equal: odd.is_empty(),
        events,
        event_log: sessions,
        records: records.iter().map(row).collect(),
    });
    let exit = if odd.is_empty() { Exit::Fine } else { Exit::Findings };
    let is_unknown = |record: &&Replayed| matches!(record.state, HistoryState::NoHistory);
    if !odd.is_empty() && records.iter().all(|record| is_unknown(&record)) {
        let count = records.len();
        output.line(format_args!(
            "{flow}: no event of its {count} records is known here: the sealed journal (`.stepmark/journal/`) did not come with them"
        ));
        return exit;
    }
    for record in &odd {
        let word = word(record);
        output.line(format_args!("{}: SMF07 its events lead to another state: {word}", record.path));
        let change = |change| output.line(format_args!("  {}", on_one_line(&history::change(change))));
        record.changes.iter().for_each(change);
        record.damage.iter().for_each(|damage| output.line(format_args!("  {damage}")));
    }
    let (all, equal) = (records.len(), records.len() - odd.len());
    output.remark(format_args!("{flow}: {equal} of {all} records are what {events} events lead to"));
    exit
}
