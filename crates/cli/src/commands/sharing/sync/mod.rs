//! `stepmark sync`

mod apply;
pub(crate) mod allow;
mod plan_file;
pub(crate) mod report;
pub(crate) mod retry;
mod run;
mod context;
mod plan;
pub(crate) mod status;

use clap::{Args, Subcommand};

pub(crate) use self::context::{SyncContext, holder, ledger_to_read, open_ledger};
use crate::{
    environment::Environment,
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Keep tickets in step with artifacts, one way
///
/// Trackers are configured under `trackers` in `.stepmark/config.yaml`. Nothing ever flows back into an
/// artifact. What was sent is remembered in `.stepmark/local/sync.db`; where that is lost, tickets are found
/// again by their markers.
#[derive(Debug, Args)]
pub(crate) struct Sync {
    /// The tracker; needed where the configuration names several
    #[arg(long, global = true, value_name = "NAME")]
    tracker: Option<String>,
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Plan(plan::Plan),
    Apply(apply::Apply),
    Status(status::Status),
    Adopt(retry::Adopt),
    Retry(retry::Retry),
    Reset(retry::Reset),
    Run(run::Run),
    Allow(allow::Allow),
}

impl Sync {
    pub(crate) fn run(
        &self,
        project: &dyn Fn() -> Result<Project, Failure>,
        environment: &Environment,
        output: &Output,
    ) -> Result<Exit, Failure> {
        if let Task::Run(command) = &self.task {
            return command.run(project, environment, self.tracker.as_deref());
        }
        if let Task::Allow(command) = &self.task {
            return command.run(output);
        }
        let project = &project()?;
        let mut context = SyncContext::open(project, environment, self.tracker.as_deref())?;
        match &self.task {
            Task::Plan(command) => command.run(&context, output),
            Task::Apply(command) => {
                context.settings.prunes_many = command.yes;
                command.run(&context, output)
            }
            Task::Status(command) => command.run(&context, output),
            Task::Adopt(command) => command.run(&context, output),
            Task::Retry(command) => command.run(&context, output),
            Task::Reset(command) => command.run(&context, output),
            // These concern all trackers, or none.
            Task::Run(_) | Task::Allow(_) => Ok(Exit::Fine),
        }
    }
}
