//! `stepmark mcp`

mod coordination;
mod memory;
mod packs;

use std::io;

use clap::Args;
use stepmark_mcp::{Server, ToolSet, serve};
use stepmark_store::configuration::ProjectPack;

use self::{coordination::CoordinationTools, memory::MemoryTools, packs::PackTools};
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
    /// The tools that are served: `coordination` (tasks that several agents share, fifteen tools), `memory`
    /// (recall what was decided and learned, and tell it), or a pack of the project: a tool for each move
    #[arg(long, value_name = "SET", value_delimiter = ',', required = true)]
    tools: Vec<String>,
}

struct Opening {
    place: ProjectArguments,
    acting: ActingArguments,
    environment: Environment,
}

impl Opening {
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
        let set = |set: &String| -> Result<Box<dyn ToolSet>, Failure> {
            Ok(match set.as_str() {
                "coordination" => Box::new(CoordinationTools::new(opening())),
                "memory" => Box::new(MemoryTools::new(opening())),
                name => {
                    let project = opening().project(None)?;
                    let packs = project.workspace.configuration().packs();
                    let pack =
                        packs.iter().find(|own| own.pack.name == name).ok_or_else(|| unknown(name, packs))?;
                    Box::new(PackTools::new(opening(), &pack.pack))
                }
            })
        };
        let sets = self.tools.iter().map(set).collect::<Result<_, _>>()?;
        let server = Server::new(sets, env!("CARGO_PKG_VERSION"));
        serve(server, io::BufReader::new(io::stdin()), io::stdout())
            .map_err(|error| Failure::from_error(Exit::Io, &error))?;
        Ok(Exit::Fine)
    }
}

fn unknown(name: &str, packs: &[ProjectPack]) -> Failure {
    let packs: String = packs.iter().map(|own| format!(", `{}`", own.pack.name)).collect();
    Failure::new(Exit::Usage, format!("there are no tools `{name}`"))
        .with_help(format!("there are `coordination`, `memory`{packs}, and each pack of the project"))
}
