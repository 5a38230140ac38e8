//! `stepmark flow`

mod attempt;
mod check_runner;
mod events;
mod graph;
pub(crate) mod graph_file;
mod git;
mod intervening;
mod looking;
mod remedy;
mod report;
mod running;
mod task_argument;
mod verify;

use clap::{Args, Subcommand};
use stepmark_model::{flows::FlowRefusal, journal::ActorKind};
use stepmark_store::flows::{FlowError, FlowRecordsError, Flows};

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
    Intervening(intervening::Intervening),
    #[command(flatten)]
    Git(git::Git),
    #[command(flatten)]
    Looking(looking::Looking),
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

impl From<FlowRecordsError> for Failure {
    fn from(error: FlowRecordsError) -> Self {
        FlowError::from(error).into()
    }
}

impl From<FlowError> for Failure {
    fn from(error: FlowError) -> Self {
        let help = remedy::remedy(&error);
        let failure = match error {
            FlowError::Change(error) => error.into(),
            FlowError::Records(FlowRecordsError::Artifact(error)) => error.into(),
            FlowError::History(error) => error.into(),
            FlowError::Replay(error) => error.into(),
            FlowError::Seal(error) => error.into(),
            FlowError::Git(error) => error.into(),
            FlowError::Busy { .. } | FlowError::BranchMoved { .. } => {
                Self::from_error(Exit::Conflict, &error)
            }
            FlowError::Refused(FlowRefusal::NothingReady { waiting, running, failed, .. }) => {
                let is_for_person = running == 0 && failed > 0;
                Self::from_error(Exit::idle(waiting + running, is_for_person), &error)
            }
            error => Self::from_error(Exit::Findings, &error),
        };
        Self { help: help.or(failure.help), ..failure }
    }
}
