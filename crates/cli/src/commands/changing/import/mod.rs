//! `stepmark import`

pub(crate) mod bmad_7;
pub(crate) mod pack;
pub(crate) mod records;
pub(crate) mod stories;

use std::{collections::BTreeMap, path::PathBuf};
use stepmark_store::flows::unusable_graph;

use crate::{
    commands::flow::graph_file,
    exit::{Exit, Failure},
    output::{Output, spinner},
    project::Project,
};
use clap::{Args, Subcommand};
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_model::{
    artifact::ProjectPath,
    autodev::SubStep,
    flows::{EventDump, Graph},
};
use stepmark_store::{autodev::Adoption, commit, flows::Flows, workspace::Workspace};

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
    Autodev(Autodev),
    Asdd(records::ImportAsdd),
    Coordination(records::ImportCoordination),
    Flow(ImportFlow),
    Pack(pack::ImportRows),
    #[command(name = "bmad-7")]
    Bmad7(bmad_7::ImportBmad7),
}

answers! { Answer<'a>
    /// `import autodev`: the state file that was found, and whether anything was written
    "stepmark.import-autodev/1" Autodev {
        from: &'a ProjectPath, file: &'a ProjectPath, older: bool, lacks_key: bool, written: bool,
        flow: &'a str, step: String, name: &'a str, status: &'a str, sub_step: &'a SubStep,
    }
    /// `import flow`: the graph that was taken in
    "stepmark.import-flow/1" Flow { graph: &'a str, tasks: usize, written: bool }
    /// `import flow` of a dump of events: its graphs, the statuses that it tells, and types that are not
    /// known
    "stepmark.import-flow-events/1" FlowEvents {
        graphs: Vec<GraphRow<'a>>, events: usize, statuses: &'a BTreeMap<String, String>,
        unknown: &'a BTreeMap<String, usize>, kept: Option<&'a ProjectPath>,
    }
    struct GraphRow<'a> { graph: &'a str, tasks: usize }
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

/// Take in the state file of the /autodev skill
///
/// Adds the key `autodev` to .stepmark/config.yaml, which switches the commands and rules of autodev on. The
/// state file stays as it is. One of an older generation (`_autopilot_state.md`, a sub-step in free text) is
/// converted with `--convert` alone; under another name it stays beside the new one.
#[derive(Debug, Args)]
pub(crate) struct Autodev {
    /// The state file; without it that in `_docs`
    path: Option<PathBuf>,
    /// Convert a file of an older generation
    #[arg(long)]
    convert: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Autodev {
    fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let path = self.path.as_deref().map(|path| project.path(path)).transpose()?;
        let adoption = project.workspace.autodev_to_adopt(path.as_ref())?;
        let is_refused = adoption.is_older && !self.convert;
        if !is_refused && !self.dry_run {
            project.workspace.adopt_autodev(&adoption)?;
        }
        self.report(&adoption, is_refused, output);
        if !is_refused {
            return Ok(Exit::Fine);
        }
        let message = format!("`{}` is of an older generation; nothing was written", adoption.from);
        Err(Failure::new(Exit::Findings, message).with_help("`--convert` writes it as shown"))
    }

    fn report(&self, adoption: &Adoption, is_refused: bool, output: &Output) {
        let Adoption { from, file, position, is_older, lacks_key, .. } = adoption;
        let sub_step = &position.sub_step;
        output.answer(|| Answer::Autodev {
            from,
            file,
            older: *is_older,
            lacks_key: *lacks_key,
            written: !is_refused && !self.dry_run && (*is_older || *lacks_key),
            flow: &position.flow,
            step: position.step.to_string(),
            name: &position.name,
            status: &position.status,
            sub_step,
        });
        output.line(format_args!(
            "{file}: {}, step {} `{}`, {}",
            position.flow, position.step, position.name, position.status
        ));
        let detail =
            if sub_step.detail.is_empty() { String::new() } else { format!(" ({})", sub_step.detail) };
        output.line(format_args!("  phase {} {}{detail}", sub_step.phase, sub_step.name));
        match (lacks_key, is_refused || self.dry_run) {
            (true, false) => output.remark("`autodev` is switched on in .stepmark/config.yaml"),
            (true, true) => output.remark("`autodev` would be switched on in .stepmark/config.yaml"),
            (false, _) => output.remark("`autodev` is switched on already"),
        }
    }
}

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
    fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let text = graph_file::text(project, &self.path)?;
        if let Some(dump) = EventDump::read(&text) {
            return self.take_dump(&dump, &text, project, output);
        }
        let graph = graph_file::graph_in(&text, &self.path)?;
        self.write(std::slice::from_ref(&graph), project, |_, _| Ok(()))?;
        output.answer(|| Answer::Flow { graph: &graph.id, tasks: graph.tasks.len(), written: !self.dry_run });
        output.line(told(&graph));
        Ok(Exit::Fine)
    }

    fn write(
        &self,
        graphs: &[Graph],
        project: &Project,
        beside: impl FnOnce(&Workspace, ProjectPath) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for graph in graphs {
            graph.check().map_err(|source| unusable_graph(&graph.id, source))?;
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

    fn take_dump<'d>(
        &self,
        dump: &'d EventDump,
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
        let row = |graph: &'d Graph| GraphRow { graph: &graph.id, tasks: graph.tasks.len() };
        output.answer(|| Answer::FlowEvents {
            graphs: dump.graphs.iter().map(row).collect(),
            events: dump.events,
            statuses: &dump.statuses,
            unknown: &dump.unknown,
            kept: kept.as_ref(),
        });
        dump.graphs.iter().for_each(|graph| output.line(told(graph)));
        dump.statuses.iter().for_each(|(task, status)| output.line(format_args!("{task}  {status}")));
        kept.iter().for_each(|path| output.remark(format_args!("the events are kept in {path}")));
        if !dump.unknown.is_empty() {
            let types = dump.unknown.iter().map(|(kind, count)| format!("{kind} ({count})"));
            let (unknown, all): (usize, usize) = (dump.unknown.values().sum(), dump.events);
            output.warning(format_args!(
                "left out {} of {all}: {}",
                spinner::count(unknown, "event"),
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
