//! `stepmark memory recall`, `decisions`, `summary` and `graph`

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use super::{
    now, open,
    storing::{Store, store_failed},
};
use crate::{
    exit::{Exit, Failure},
    output::{ListArguments, Output, Row, svg, wire::Open},
    project::Project,
};
use clap::Args;
use jiff::Timestamp;
use stepmark_frontmatter::Span;
use stepmark_memory::{
    Edge, Memory, MemoryKind, Node, NodeKind, Query, Recalled, audit::Fault, context::plain,
    store::Neighbourhood,
};
use stepmark_model::{
    artifact::ProjectPath,
    check::rules::memory::{secret_in_memory_finding, store_behind_finding, superseded_by_missing_finding},
};
use stepmark_store::{checking::CheckReport, disk::CONFIGURATION_PATH};

/// Recall what answers a question, the best first; without one, what matters most
#[derive(Debug, Args)]
pub(super) struct Recall {
    /// The question, in words
    question: Vec<String>,
    /// The artifact that is worked on, by its path or id: what hangs on it comes first
    #[arg(long)]
    artifact: Option<PathBuf>,
    /// Only records of this kind; once for each
    #[arg(long = "kind")]
    kinds: Vec<MemoryKind>,
    /// Only records from this time on: 2026-11-01, or a time of RFC 3339
    #[arg(long, value_parser = time)]
    since: Option<Timestamp>,
    /// Also what was superseded or has ended
    #[arg(long)]
    all: bool,
    /// Say why each stands where it stands
    #[arg(long)]
    explain: bool,
    /// Ask this store of `memory.stores`; the records are shown as this project knows them
    #[arg(long, value_name = "NAME", conflicts_with_all = ["artifact", "kinds", "since", "all", "explain"])]
    store: Option<String>,
    #[command(flatten)]
    list: ListArguments,
}

/// List decisions with reasons and what was rejected, the newest first
#[derive(Debug, Args)]
pub(super) struct Decisions {
    /// Words that they are about
    words: Vec<String>,
    /// Only those that hang on this artifact
    #[arg(long)]
    artifact: Option<PathBuf>,
    /// Also those that no longer hold
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    list: ListArguments,
}

/// Show the summaries of sessions that have ended, the newest first
#[derive(Debug, Args)]
pub(super) struct Summary {
    /// Only that of this session (`--session` before the command is the session that it belongs to)
    id: Option<String>,
    #[command(flatten)]
    list: ListArguments,
}

impl Recall {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let limit = self.list.limit().unwrap_or(project.workspace.configuration().memory.recall.limit);
        if let Some(name) = &self.store {
            let found = of_store(project, name, &self.question.join(" "), limit)?;
            return records((output, &self.list), found, false);
        }
        let query = Query {
            text: self.question.join(" "),
            kinds: self.kinds.clone(),
            artifact: called(project, self.artifact.as_deref()),
            since: self.since,
            all: self.all,
            limit,
            ..Query::default()
        };
        let found = open(project)?.recall(&query, now(project))?;
        records((output, &self.list), found, self.explain)
    }
}

impl Decisions {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let query = Query {
            text: self.words.join(" "),
            artifact: called(project, self.artifact.as_deref()),
            all: self.all,
            ..Query::default()
        };
        let mut found = open(project)?.decisions(&query, now(project))?;
        if self.artifact.is_some() {
            found.retain(|recalled| recalled.score.graph > 0.0);
        }
        records((output, &self.list), found, false)
    }
}

impl Summary {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let query = Query {
            kinds: vec![MemoryKind::Summary],
            session: self.id.clone(),
            all: true,
            limit: usize::MAX,
            ..Query::default()
        };
        let mut found: Vec<Recalled> = open(project)?.recall(&query, now(project))?;
        found.sort_by_key(|recalled| std::cmp::Reverse(recalled.record.created_at));
        records((output, &self.list), found, false)
    }
}

fn of_store(project: &Project, name: &str, question: &str, limit: usize) -> Result<Vec<Recalled>, Failure> {
    let memory = open(project)?;
    let mut found = Vec::new();
    for mut store in Store::all(&project.workspace, Some(name), &memory)? {
        let failed = |failure| store_failed(name, &failure);
        for id in store.target.recall(question, limit, now(project)).map_err(failed)? {
            let known = memory.known(&id, now(project))?;
            found
                .extend(known.filter(|known| {
                    known.superseded_by.is_empty() && !known.record.is_expired(now(project))
                }));
        }
    }
    Ok(found)
}

pub(super) fn called(project: &Project, artifact: Option<&Path>) -> Option<String> {
    let artifact = artifact?;
    let known = project.identity(artifact).map(|(_, path)| path.to_string());
    Some(known.unwrap_or_else(|_| artifact.to_string_lossy().into_owned()))
}

fn time(text: &str) -> Result<Timestamp, String> {
    let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    whole.parse().map_err(|_| format!("`{text}` is no time: 2026-11-01 is one, and 2026-11-01T10:00:00Z"))
}

answers! { Answer<'a>
    /// `memory recall`, `decisions`, `summary`: records, each with its source and why it has its rank
    "stepmark.memories/1" Memories { memories: Vec<Row<Open<&'a Recalled>>>, more: usize }
    /// `memory graph`: the nodes and edges around something
    "stepmark.memory-graph/1" Graph { nodes: Vec<NodeRow<'a>>, edges: Open<&'a [Edge]>, is_cut: bool }
    struct NodeRow<'a> { kind: &'a str, name: &'a str, label: &'a str, distance: u32 }
}

pub(super) fn records(
    (output, list): (&Output, &ListArguments),
    mut found: Vec<Recalled>,
    explains: bool,
) -> Result<Exit, Failure> {
    let answer = |memories, more| Answer::Memories { memories, more };
    list.answer(output, &mut found, Open, answer, |found| {
        found.iter().for_each(|recalled| output.line(told(recalled, explains)));
        if found.is_empty() {
            output.remark("nothing is remembered of it");
        }
    })?;
    Ok(Exit::Fine)
}

fn told(recalled: &Recalled, explains: bool) -> String {
    let (record, score) = (&recalled.record, &recalled.score);
    let mut lines =
        vec![format!("{:.8}  {}  {}", record.id, record.kind.name(), plain(&record.content, 400))];
    let mut below = |word: &str, text: &str| lines.push(format!("          {word} {}", plain(text, 400)));
    if let Some(rationale) = &record.rationale {
        below("because", rationale);
    }
    if let Some(decision) = record.decision.as_ref().filter(|own| !own.alternatives.is_empty()) {
        below("rejected:", &decision.alternatives.join(", "));
    }
    if !recalled.superseded_by.is_empty() {
        let ids: Vec<String> = recalled.superseded_by.iter().map(|id| format!("{id:.8}")).collect();
        below("superseded by", &ids.join(", "));
    }
    let source = &record.source;
    let artifact = source.artifact.as_deref().map(|path| format!(", {path}")).unwrap_or_default();
    let session = source.session.as_deref().map(|id| format!(", session {id}")).unwrap_or_default();
    below("from", &format!("{:.10}, {}{artifact}{session}", record.created_at.to_string(), source.agent));
    if explains {
        below(
            "score",
            &format!(
                "{:.2}: text {:.2}, graph {:.2}, recency {:.2}, kind {:.2}",
                score.total, score.text, score.graph, score.recency, score.kind
            ),
        );
    }
    lines.join("\n")
}

pub(in crate::commands) fn add_findings(
    project: &Project,
    report: &mut CheckReport<'_>,
) -> Result<(), Failure> {
    let workspace = &project.workspace;
    let Ok(path) = ProjectPath::new(CONFIGURATION_PATH) else { return Ok(()) };
    if !workspace.configuration().uses_memory() {
        return Ok(());
    }
    let memory = open(project)?;
    let (faults, behind) = (memory.faults()?, behind(project, &memory)?);
    let find = |bytes: &[u8]| {
        let span = place(bytes, 0, "memory:");
        let of_fault = |fault: &Fault| match fault {
            Fault::Secret { id, secret } => secret_in_memory_finding(&path, span, (id, secret)),
            Fault::SupersededByMissing { old, new } => superseded_by_missing_finding(&path, span, (old, new)),
        };
        let of_store = |(name, count): &(String, usize)| {
            store_behind_finding(&path, place(bytes, span.start, &format!("{name}:")), (name, *count))
        };
        faults.iter().map(of_fault).chain(behind.iter().map(of_store)).collect()
    };
    Ok(workspace.checks().add_beside(report, path.clone(), find)?)
}

/// Stores that lack units, with the number, or that failed last.
fn behind(project: &Project, memory: &Memory) -> Result<Vec<(String, usize)>, Failure> {
    let stores = Store::all(&project.workspace, None, memory)?;
    let units = if stores.is_empty() { Vec::new() } else { memory.units()? };
    let mut behind = Vec::new();
    for store in stores {
        let state = store.state(&project.workspace, &units)?;
        if !state.behind.is_empty() || state.failure.is_some() {
            behind.push((store.name.to_string(), state.behind.len()));
        }
    }
    Ok(behind)
}

fn place(bytes: &[u8], from: usize, word: &str) -> Span {
    let is_begin = |at: &usize| *at == 0 || b"\n {,".contains(&bytes[*at - 1]);
    let found = (from..bytes.len()).filter(is_begin).find(|at| bytes[*at..].starts_with(word.as_bytes()));
    Span::at(found.unwrap_or(from))
}

/// Show how something hangs on the rest: decisions, artifacts, agents, sessions, steps
#[derive(Debug, Args)]
pub(super) struct Graph {
    /// A memory, the path or id of an artifact, a session, an agent, a step
    node: String,
    /// The number of edges that it goes away from there
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=5))]
    depth: u32,
    /// Print a picture in SVG
    #[arg(long, conflicts_with = "json")]
    svg: bool,
}

impl Graph {
    pub(super) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let found = open(project)?.neighbourhood(&self.node, self.depth)?;
        if self.svg {
            output.line(svg::memory_picture(&found));
            return Ok(Exit::Fine);
        }
        output.answer(|| Answer::Graph {
            nodes: found.nodes.iter().map(NodeRow::of).collect(),
            edges: Open(&found.edges),
            is_cut: found.is_cut,
        });
        lines(&found, output);
        Ok(Exit::Fine)
    }
}

impl<'a> NodeRow<'a> {
    fn of((node, label, distance): &'a (Node, String, u32)) -> Self {
        Self { kind: node.kind.as_str(), name: &node.name, label, distance: *distance }
    }
}

fn lines(found: &Neighbourhood, output: &Output) {
    let labels: HashMap<&Node, &str> =
        found.nodes.iter().map(|(node, label, _)| (node, label.as_str())).collect();
    let name = |node: &Node| node_name(node, labels.get(node).copied().unwrap_or(&node.name));
    for edge in &found.edges {
        output.line(format_args!("{}  {}  {}", name(&edge.from), edge.kind.as_str(), name(&edge.to)));
    }
    if found.edges.is_empty() {
        found.nodes.iter().for_each(|(node, label, _)| output.line(node_name(node, label)));
    }
    if found.is_cut {
        output.remark("there is more: ask with a smaller --depth, or of something else");
    }
}

fn node_name(node: &Node, label: &str) -> String {
    match node.kind {
        NodeKind::Memory => format!("{:.8} “{}”", node.name, plain(label, 60)),
        NodeKind::Agent => plain(label, 80),
        kind => format!("{} {}", kind.as_str(), plain(label, 80)),
    }
}
