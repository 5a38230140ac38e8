//! `stepmark flow create`, `start`, `pause`, `resume`, `abort`, `next`

use clap::Subcommand;
use serde_json::json;
use stepmark_model::spelling::argument;
use stepmark_store::flows::{FlowError, Flows};

use super::{ReasonedFlow, TaskArgument, agent, attempt::claim, flow_id, report};
use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

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
        state.task(task).map_err(FlowError::from)?;
    }
    let mut ready = if state.flow.status() == "RUNNING" { state.ready() } else { Vec::new() };
    ready.retain(|own| task.is_none_or(|task| own.task() == task));
    output.json_or(
        "stepmark.flow-next/1",
        || {
            let tasks: Vec<_> = ready.iter().map(|task| report::wire(task)).collect();
            json!({"flow": state.flow.id(), "status": state.flow.status(), "tasks": tasks})
        },
        || {
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
        },
    );
    Ok(if ready.is_empty() { Exit::Findings } else { Exit::Fine })
}
