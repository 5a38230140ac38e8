//! `stepmark import flow`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_model::{
    artifact::ProjectPath,
    flows::{EventDump, Graph},
};
use stepmark_store::{
    commit,
    flows::{FlowError, Flows},
    workspace::Workspace,
};

use crate::{
    commands::flow::graph_file,
    exit::{Exit, Failure},
    output::{Output, wording},
    project::Project,
};

/// Take in a graph of tasks, in YAML or JSON, or the graphs in a dump of the events of Hivemind
///
/// Adds the key `flows` to .stepmark/config.yaml, which switches the commands and rules of flows on. A graph
/// that is there gets its next version. Of a dump (an array, or an event a line) the types that are known
/// count, the others are told, and the dump is kept beside the first graph.
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
        let text = graph_file::text(project, &self.path)?;
        if let Some(dump) = EventDump::read(&text) {
            return self.take_dump(&dump, &text, project, output);
        }
        let graph = graph_file::graph_in(&text, &self.path)?;
        self.write(std::slice::from_ref(&graph), project, |_, _| Ok(()))?;
        output.json_or(
            "stepmark.import-flow/1",
            || json!({"graph": graph.id, "tasks": graph.tasks.len(), "written": !self.dry_run}),
            || output.line(told(&graph)),
        );
        Ok(Exit::Fine)
    }

    fn write(
        &self,
        graphs: &[Graph],
        project: &Project,
        beside: impl FnOnce(&Workspace, ProjectPath) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for graph in graphs {
            graph.check().map_err(|source| FlowError::Graph { id: graph.id.clone(), source })?;
        }
        if self.dry_run {
            return Ok(());
        }
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
        let written = graphs.iter().map(|graph| write_graph(&flows, graph)).collect::<Result<Vec<_>, _>>()?;
        written.into_iter().next().map_or(Ok(()), |first| beside(workspace, first))
    }

    fn take_dump(
        &self,
        dump: &EventDump,
        text: &str,
        project: &Project,
        output: &Output,
    ) -> Result<Exit, Failure> {
        let mut kept = None;
        self.write(&dump.graphs, project, |workspace, path| {
            let beside = path.as_str().strip_suffix(".md").unwrap_or(path.as_str());
            let place = ProjectPath::new(format!("{beside}.events.jsonl"));
            let place = place.map_err(|error| Failure::from_error(Exit::Usage, &error))?;
            commit::create(workspace.root(), &place, text.as_bytes(), workspace.commit_options())
                .map_err(|error| Failure::from_error(Exit::Io, &error))?;
            kept = Some(place);
            Ok(())
        })?;
        output.json_or(
            "stepmark.import-flow-events/1",
            || {
                let graph = |graph: &Graph| json!({"graph": graph.id, "tasks": graph.tasks.len()});
                json!({
                    "graphs": dump.graphs.iter().map(graph).collect::<Vec<_>>(),
                    "events": dump.events,
                    "statuses": dump.statuses,
                    "unknown": dump.unknown,
                    "kept": kept,
                })
            },
            || {
                dump.graphs.iter().for_each(|graph| output.line(told(graph)));
                dump.statuses.iter().for_each(|(task, status)| output.line(format_args!("{task}  {status}")));
                kept.iter().for_each(|path| output.remark(format_args!("the events are kept in {path}")));
            },
        );
        if !dump.unknown.is_empty() {
            let types = dump.unknown.iter().map(|(kind, count)| format!("{kind} ({count})"));
            let (unknown, all): (usize, usize) = (dump.unknown.values().sum(), dump.events);
            output.warning(format_args!(
                "left out {} of {all}: {}",
                wording::count(unknown, "event"),
                types.collect::<Vec<_>>().join(", ")
            ));
        }
        Ok(Exit::Fine)
    }
}

fn write_graph(flows: &Flows<'_>, graph: &Graph) -> Result<ProjectPath, Failure> {
    let is_new = flows.graph(&graph.id, None).is_err();
    let record = flows.write_graph(graph, is_new)?;
    Ok(flows.graph_path(&graph.id, record.number("version"))?)
}

fn told(graph: &Graph) -> String {
    format!("{}  {} tasks", graph.id, graph.tasks.len())
}
