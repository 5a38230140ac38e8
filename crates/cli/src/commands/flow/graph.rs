//! `stepmark flow graph`

use std::path::{Path, PathBuf};
use stepmark_store::{ErrorKind, flows::unusable_graph};

use clap::{Args, Subcommand};
use stepmark_model::flows::Graph as TaskGraph;
use stepmark_store::flows::Flows;

use super::{graph_file::read, report::Answer};
use crate::{
    exit::{Exit, Failure},
    output::{Output, spinner},
    project::Project,
};

/// Write graphs of tasks: `{id, title, tasks}` in YAML or JSON
#[derive(Debug, Args)]
pub(super) struct Graph {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a graph of a file
    Create {
        /// The file
        file: PathBuf,
    },
    /// Say what is wrong with a graph, or with a file that may become one
    Check {
        /// The graph, or the file
        graph: String,
    },
    /// Make the next version of a graph: those of which flows were made never change
    Revise {
        /// The file
        file: PathBuf,
    },
    /// Let this clone run the checks of a graph that came with a repository, as a person
    Allow {
        /// The graph
        graph: String,
        /// Its version; without it the last
        #[arg(long = "graph-version", value_name = "N")]
        number: Option<u64>,
    },
    /// Show a graph
    Show {
        /// The graph
        graph: String,
        /// Its version; without it the last
        #[arg(long = "graph-version", value_name = "N")]
        number: Option<u64>,
    },
}

impl Graph {
    pub(super) fn run(&self, flows: &Flows<'_>, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let graph = match &self.what {
            What::Create { file } => of_record(&flows.write_graph(&read(project, file)?, true)?)?,
            What::Revise { file } => of_record(&flows.write_graph(&read(project, file)?, false)?)?,
            What::Check { graph } => {
                let graph = match flows.graph(graph, None) {
                    Ok((_, record)) => of_record(&record)?,
                    Err(error) if error.kind() == ErrorKind::NoRecord => read(project, Path::new(graph))?,
                    Err(error) => return Err(error.into()),
                };
                let id = graph.id.clone();
                graph.check().map_err(|source| unusable_graph(&id, source))?;
                graph
            }
            What::Allow { graph, number } => {
                let graph = of_record(&flows.graph(graph, *number)?.1)?;
                flows.allow_checks(&graph)?;
                graph
            }
            What::Show { graph, number } => of_record(&flows.graph(graph, *number)?.1)?,
        };
        output.answer(|| Answer::Graph { graph: &graph });
        let tasks = spinner::count(graph.tasks.len(), "task");
        output.line(format_args!("{} v{}  {tasks}", graph.id, graph.version));
        for task in &graph.tasks {
            let after = match task.depends_on.is_empty() {
                true => String::new(),
                false => format!("  after {}", task.depends_on.join(", ")),
            };
            output.remark(format_args!("  {}  {}{after}", task.id, task.title));
            for check in &task.checks {
                output.remark(format_args!("    check {}: {}", check.name, check.command));
            }
        }
        Ok(Exit::Fine)
    }

    pub(super) const fn writes(&self) -> bool {
        matches!(self.what, What::Create { .. } | What::Revise { .. } | What::Allow { .. })
    }
}

fn of_record(record: &stepmark_model::flows::FlowRecord) -> Result<TaskGraph, Failure> {
    TaskGraph::of(record).map_err(|error| Failure::from_error(Exit::Findings, &error))
}
