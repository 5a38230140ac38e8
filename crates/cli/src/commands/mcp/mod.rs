//! `stepmark mcp`

mod coordination;
mod memory;

use std::io;

use clap::{Args, ValueEnum};
use stepmark_mcp::{Server, ToolSet, serve};

use self::{coordination::CoordinationTools, memory::MemoryTools};
use crate::{
    arguments::{ActingArguments, ProjectArguments},
    environment::Environment,
    exit::{Exit, Failure},
    project::Project,
};

/// Serve tools to a coding agent, by the Model Context Protocol
///
/// The agent starts it and speaks with it on standard input and output; it ends with its input. Every call
/// reads the files and commits: several of them, and commands beside them, never lose what another did.
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// The tools that are served
    #[arg(long, value_name = "SET", value_delimiter = ',', required = true)]
    tools: Vec<Set>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Set {
    /// Tasks that several agents share: fifteen tools
    Coordination,
    /// Recall what was decided and learned, and tell it
    Memory,
}

/// The way to the project, which is opened anew for each call.
struct Opening {
    place: ProjectArguments,
    acting: ActingArguments,
    environment: Environment,
}

impl Opening {
    /// Opens the project for an agent, or for whoever started the server.
    fn project(&self, agent: Option<&str>) -> Result<Project, Failure> {
        let mut acting = self.acting.clone();
        if let Some(agent) = agent {
            let actor = format!("agent:{agent}").parse();
            let unusable =
                |error| Failure::from_error(Exit::Usage, &error).with_help("a short name is wanted");
            acting.actor = Some(actor.map_err(unusable)?);
        }
        Project::open(&self.place, &acting, &self.environment)
    }
}

impl Mcp {
    pub(crate) fn run(
        &self,
        place: &ProjectArguments,
        acting: &ActingArguments,
        environment: &Environment,
    ) -> Result<Exit, Failure> {
        let opening =
            || Opening { place: place.clone(), acting: acting.clone(), environment: environment.clone() };
        let set = |set: &Set| -> Box<dyn ToolSet> {
            match set {
                Set::Coordination => Box::new(CoordinationTools::new(opening())),
                Set::Memory => Box::new(MemoryTools::new(opening())),
            }
        };
        let server = Server::new(self.tools.iter().map(set).collect(), env!("CARGO_PKG_VERSION"));
        serve(server, io::BufReader::new(io::stdin()), io::stdout())
            .map_err(|error| Failure::from_error(Exit::Io, &error))?;
        Ok(Exit::Fine)
    }
}
