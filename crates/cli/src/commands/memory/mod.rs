//! `stepmark memory`

pub(crate) mod hook;
pub(crate) mod recalling;
pub(crate) mod storing;

use clap::{Args, Subcommand};
use jiff::Timestamp;
#[cfg(feature = "mcp")]
use std::path::Path;
#[cfg(feature = "mcp")]
use stepmark_memory::{Draft, Query, Recalled};
use stepmark_memory::{Memory, MemoryError};

#[cfg(feature = "mcp")]
use self::{
    hook::{about_artifact, told},
    recalling::called,
};
use crate::{
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

pub(in crate::commands) use hook::handed_over;
pub(in crate::commands) use recalling::add_findings;
pub(in crate::commands) use storing::{Told, deliver_to_all};

/// Remember what was decided and learned, and recall it where work starts
///
/// All that is told to memory is an event of the journal first; records and a graph are made of all events,
/// in a store of the cache that can be deleted at will. Memory decides nothing: it is asked by people and
/// agents alone. `memory.track: git` in the configuration shares it with other clones; without it, it stays
/// in this one.
#[derive(Debug, Args)]
pub(crate) struct MemoryCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Remember(hook::Remember),
    Decide(hook::Decide),
    Supersede(hook::Supersede),
    Recall(recalling::Recall),
    Decisions(recalling::Decisions),
    Summary(recalling::Summary),
    Graph(recalling::Graph),
    /// Show how much is remembered, and what other stores lack
    Status,
    Sync(storing::Sync),
    /// Make the store anew from the journal
    Rebuild,
    Hook(hook::Hook),
}

impl MemoryCommand {
    /// A hook blocks nobody, whatever fails.
    pub(crate) const fn is_hook(&self) -> bool {
        matches!(self.what, What::Hook(_))
    }

    pub(crate) fn run(&self, project: Project, output: &Output) -> Result<Exit, Failure> {
        match &self.what {
            What::Hook(command) => command.run(project, output),
            What::Remember(command) => command.run(&project, output),
            What::Decide(command) => command.run(&project, output),
            What::Supersede(command) => command.run(&project, output),
            What::Recall(command) => command.run(&project, output),
            What::Decisions(command) => command.run(&project, output),
            What::Summary(command) => command.run(&project, output),
            What::Graph(command) => command.run(&project, output),
            What::Sync(command) => command.run(&project, output),
            What::Status => storing::status(&project, output),
            What::Rebuild => storing::rebuild(&project, output),
        }
    }
}

fn open(project: &Project) -> Result<Memory, Failure> {
    Ok(Memory::open(&project.workspace)?)
}

#[cfg(feature = "mcp")]
pub(in crate::commands) fn recall(project: &Project, query: &Query) -> Result<Vec<Recalled>, Failure> {
    let query =
        Query { artifact: called(project, query.artifact.as_deref().map(Path::new)), ..query.clone() };
    Ok(open(project)?.recall(&query, now(project))?)
}

#[cfg(feature = "mcp")]
pub(in crate::commands) fn tell(
    draft: Draft,
    artifact: Option<&str>,
    project: &Project,
) -> Result<String, Failure> {
    told(&about_artifact(draft, artifact.map(Path::new), project)?, project)
}

fn now(project: &Project) -> Timestamp {
    project.workspace.now()
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        match &error {
            MemoryError::Unknown { .. } | MemoryError::Ambiguous { .. } => {
                Self::from_error(Exit::Findings, &error)
                    .with_help("`stepmark memory recall --all` lists records with their ids")
            }
            MemoryError::NoNode { .. } => Self::from_error(Exit::Findings, &error)
                .with_help("name a memory, the path or id of an artifact, a session, an agent or a step"),
            _ => Self::from_error(Exit::Io, &error),
        }
    }
}
