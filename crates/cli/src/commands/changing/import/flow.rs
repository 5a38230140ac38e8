//! `stepmark import flow`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stepmark_frontmatter::{KeyPath, Value};

use crate::{
    commands::flow::graph_file,
    exit::{Exit, Failure},
    output::Output,
    project::Project,
};

/// Take in a graph of tasks, in YAML or JSON
///
/// Adds the key `flows` to .stepmark/config.yaml, which switches the commands and rules of flows on. A graph
/// that is there gets its next version.
#[derive(Debug, Args)]
pub(crate) struct ImportFlow {
    /// The file
    path: PathBuf,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl ImportFlow {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let graph = graph_file::read(project, &self.path)?;
        graph
            .check()
            .map_err(|source| stepmark_store::flows::FlowError::Graph { id: graph.id.clone(), source })?;
        if !self.dry_run {
            let key: KeyPath =
                "flows.folder".parse().map_err(|error| Failure::from_error(Exit::Usage, &error))?;
            let configured = match project.workspace.flows() {
                Some(_) => None,
                None => Some(project.workspace.configure(key, Value::from("flows"))?),
            };
            let workspace = configured.as_ref().unwrap_or(&project.workspace);
            let flows = workspace.flows().ok_or_else(|| {
                Failure::new(Exit::Findings, "another layer of the configuration switches flows off")
            })?;
            let is_new = flows.graph(&graph.id, None).is_err();
            flows.write_graph(&graph, is_new)?;
        }
        output.json_or(
            "stepmark.import-flow/1",
            || json!({"graph": graph.id, "tasks": graph.tasks.len(), "written": !self.dry_run}),
            || output.line(format_args!("{}  {} tasks", graph.id, graph.tasks.len())),
        );
        Ok(Exit::Fine)
    }
}
