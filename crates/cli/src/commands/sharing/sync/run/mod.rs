//! `stepmark sync run`

mod memory_delivery;
mod log;
mod supervisor;

use clap::{Args, ValueEnum};

use self::{supervisor::Generation, supervisor::Supervisor};
use crate::{
    environment::Environment,
    exit::{Exit, Failure},
    project::Project,
};

/// Keep tickets in step for as long as this runs: watches the project, and logs changes on stderr
///
/// Several of these on one project wait for each other; when one dies, another takes over. SIGTERM or SIGINT
/// ends it after the request in flight, SIGHUP reads the configuration and credentials again. docs/sync.md
/// has the units by which systemd and launchd start it.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// How lines on stderr are written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
}

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

impl Run {
    pub(super) fn run(
        &self,
        project: &dyn Fn() -> Result<Project, Failure>,
        environment: &Environment,
        tracker: Option<&str>,
    ) -> Result<Exit, Failure> {
        log::start(self.log_format);
        let open = || Generation::open(project()?, environment, tracker);
        Supervisor { open: &open }.run()?;
        Ok(Exit::Fine)
    }
}
