//! `stepmark import`

mod autodev;
pub(crate) mod bmad_7;
mod flow;
pub(crate) mod pack;
mod records;
mod stories;

use clap::{Args, Subcommand};

use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Bring what other files say into frontmatter, after asking
///
/// Frontmatter is the truth, and nothing flows back into it by itself. Where a project kept its state
/// elsewhere before, this brings it in once.
#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Stories(stories::Stories),
    Autodev(autodev::Autodev),
    Asdd(records::ImportAsdd),
    Coordination(records::ImportCoordination),
    Flow(flow::ImportFlow),
    Pack(pack::ImportRows),
    #[command(name = "bmad-7")]
    Bmad7(bmad_7::ImportBmad7),
}

impl Import {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        match &self.what {
            What::Stories(command) => command.run(project, output),
            What::Autodev(command) => command.run(project, output),
            What::Asdd(command) => command.run(project, output),
            What::Coordination(command) => command.run(project, output),
            What::Flow(command) => command.run(project, output),
            What::Pack(command) => command.run(project, output),
            What::Bmad7(command) => command.run(project, output),
        }
    }
}
