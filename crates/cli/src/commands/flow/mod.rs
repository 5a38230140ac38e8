//! `stepmark flow`

mod graph;
pub(crate) mod graph_file;
mod attempt;
pub(crate) mod report;
mod running;
mod verify;

use clap::{Args, Subcommand};
use stepmark_model::{artifact::Kind, flows::FlowRefusal, journal::ActorKind, spelling::argument};
use stepmark_store::flows::Flows;

use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Run graphs of tasks: agents claim tasks and report attempts, checks decide, people intervene
///
/// Each graph, each flow (a run of a graph) and each execution of a task is a file below `flows/`. The key
/// `flows` in .stepmark/config.yaml switches it on. A task is named by flow and task, or as FLOW.TASK.
#[derive(Debug, Args)]
pub(crate) struct FlowCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Graph(graph::Graph),
    #[command(flatten)]
    Running(running::Running),
    Attempt(attempt::AttemptCommand),
    Verify(verify::Verify),
    #[command(flatten)]
    Intervening(running::Intervening),
    #[command(flatten)]
    Git(attempt::Git),
    #[command(flatten)]
    Looking(running::Looking),
}

impl FlowCommand {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let flows = flows(project)?;
        match &self.what {
            What::Graph(command) => command.run(&flows, project, output),
            What::Running(command) => command.run(&flows, project, output),
            What::Attempt(command) => command.run(&flows, project, output),
            What::Verify(command) => command.run(&flows, project, output),
            What::Intervening(command) => command.run(&flows, output),
            What::Git(command) => command.run(&flows, output),
            What::Looking(command) => command.run(&flows, project, output),
        }
    }

    pub(crate) const fn writes(&self) -> bool {
        match &self.what {
            What::Graph(command) => command.writes(),
            What::Running(command) => command.writes(),
            What::Attempt(command) => command.writes(),
            What::Verify(_) | What::Intervening(_) => true,
            What::Git(command) => command.writes(),
            What::Looking(_) => false,
        }
    }
}

fn flows(project: &Project) -> Result<Flows<'_>, Failure> {
    project.workspace.flows().ok_or_else(|| {
        Failure::new(Exit::Findings, "the project does not use flows")
            .with_help("`stepmark import flow FILE` takes in a graph and switches flows on; so does `flows: {}` in .stepmark/config.yaml")
    })
}

fn agent(project: &Project, named: Option<&str>) -> Option<String> {
    let actor = &project.workspace.attribution().actor;
    named.map(str::to_owned).or_else(|| (actor.kind == ActorKind::Agent).then(|| actor.name.clone()))
}

/// `None` if the refusal says it itself.
pub(crate) fn help_of_refusal(refusal: &FlowRefusal) -> Option<String> {
    let flow_of = |id: &str| argument(id.split('.').next().unwrap_or(id));
    Some(match refusal.first() {
            FlowRefusal::Status { kind, id, status, .. } => {
                let kind = Kind::named(kind.name())?;
                let goes_on = kind.command(status, id)?;
                format!("`stepmark {goes_on}` goes on, `stepmark flow why {}` says why", argument(id))
            }
            FlowRefusal::Waits { task: _, open } => {
                let first = open.first()?;
                format!("`stepmark flow why {}` says what is in the way", argument(first))
            }
            FlowRefusal::ScopeTaken { .. } => "it can be claimed when that attempt has ended".to_owned(),
            FlowRefusal::Exhausted { .. } => {
                "a person may allow more: `stepmark flow retry FLOW TASK --max-attempts N`".to_owned()
            }
            FlowRefusal::NoTask { flow, .. } => {
                format!("`stepmark flow show {}` lists its tasks", argument(flow))
            }
            FlowRefusal::NoResult { check, .. } => {
                format!("give --check {}=pass or --check {0}=fail, or --run", argument(check))
            }
            FlowRefusal::NoJudgement { .. } => {
                "give --decision pass, soft-fail or hard-fail".to_owned()
            }
            FlowRefusal::GraphChanged { .. } => {
                "`stepmark flow restore FLOW` brings the graph back; `stepmark flow graph revise FILE` makes another"
                    .to_owned()
            }
            FlowRefusal::NothingReady { flow, .. } => {
                format!("`stepmark flow show {}` shows the tasks", flow_of(flow))
            }
            FlowRefusal::CheckpointMeanwhile { .. } => "verify it again".to_owned(),
            FlowRefusal::NoCheckpoint { flow, .. } => format!(
                "merge it by hand, or say so: `stepmark flow merge prepare {} --without-checkpoint`",
                argument(flow)
            ),
            FlowRefusal::NotApproved { flow } | FlowRefusal::OtherPlan { flow } => {
                format!("a person approves it: `stepmark flow merge approve {}`", argument(flow))
            }
            FlowRefusal::Conflicts { flow, .. } => format!(
                "`stepmark flow merge reject {}`, merge the branches `exec/…` by hand, and prepare it again",
                argument(flow)
            ),
            _ => return None,
    })
}

/// A task.
#[derive(Debug, Args)]
struct TaskArgument {
    /// The flow, or FLOW.TASK
    #[arg(value_name = "FLOW")]
    flow: String,
    /// The task
    #[arg(value_name = "TASK")]
    task: Option<String>,
}

/// A flow, and why it is treated so.
#[derive(Debug, Args)]
struct ReasonedFlow {
    /// The flow
    flow: String,
    /// The reason
    #[arg(long)]
    reason: Option<String>,
}

/// A task, and why it is treated so.
#[derive(Debug, Args)]
struct ReasonedTask {
    #[command(flatten)]
    task: TaskArgument,
    /// The reason
    #[arg(long)]
    reason: Option<String>,
}

fn flow_id(flows: &Flows<'_>, given: &str) -> Result<String, Failure> {
    Ok(flows.whole_ids((given, None))?.0)
}

fn named((flow, task): &(String, String)) -> (&str, &str) {
    (flow, task)
}

impl TaskArgument {
    fn parts(&self, flows: &Flows<'_>) -> Result<(String, Option<String>), Failure> {
        Ok(flows.whole_ids(match (&self.task, self.flow.split_once('.')) {
            (None, Some((flow, task))) => (flow, Some(task)),
            (task, _) => (&self.flow, task.as_deref()),
        })?)
    }

    fn attempt(&self) -> Option<(Self, String)> {
        let (named, number) = self.flow.rsplit_once('.').filter(|_| self.task.is_none())?;
        let (flow, task) = named.split_once('.')?;
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| (Self { flow: flow.to_owned(), task: Some(task.to_owned()) }, self.flow.clone()))
    }

    fn both(&self, flows: &Flows<'_>) -> Result<(String, String), Failure> {
        let (flow, task) = self.parts(flows)?;
        let task = task.ok_or_else(|| {
            Failure::new(Exit::Usage, "no task is named")
                .with_help(format!("`stepmark flow show {flow}` lists the tasks"))
        })?;
        Ok((flow, task))
    }
}
