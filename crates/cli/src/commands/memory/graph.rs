//! `stepmark memory graph`

use std::collections::HashMap;

use clap::Args;
use stepmark_memory::{Edge, Node, NodeKind, context::plain, store::Neighbourhood};

use super::open;
use crate::{
    exit::{Exit, Failure},
    output::{Output, svg, wire::Open},
    project::Project,
};

answers! { Answer<'a>
    /// `memory graph`: the nodes and edges around something
    "stepmark.memory-graph/1" Graph { nodes: Vec<NodeRow<'a>>, edges: Open<&'a [Edge]>, is_cut: bool }
    struct NodeRow<'a> { kind: &'a str, name: &'a str, label: &'a str, distance: u32 }
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
    let name = |node: &Node| called(node, labels.get(node).copied().unwrap_or(&node.name));
    for edge in &found.edges {
        output.line(format_args!("{}  {}  {}", name(&edge.from), edge.kind.as_str(), name(&edge.to)));
    }
    if found.edges.is_empty() {
        found.nodes.iter().for_each(|(node, label, _)| output.line(called(node, label)));
    }
    if found.is_cut {
        output.remark("there is more: ask with a smaller --depth, or of something else");
    }
}

pub(crate) fn called(node: &Node, label: &str) -> String {
    match node.kind {
        NodeKind::Memory => format!("{:.8} “{}”", node.name, plain(label, 60)),
        NodeKind::Agent => plain(label, 80),
        kind => format!("{} {}", kind.as_str(), plain(label, 80)),
    }
}
