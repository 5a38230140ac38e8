//! The graph around each artifact with memories, as a drawing and a list of edges.

use std::collections::HashMap;

use maud::{Markup, html};
use stepmark_memory::{EdgeKind, Node, NodeKind, context::plain, store::Neighbourhood};

use super::{NAME, Places, linked};
use crate::{
    observation::ObservedMemory,
    page::drawing::{Lines, Shape, drawing},
    wording,
};

const SHORT: usize = 18;

type Seen = (Node, String, u32);

pub(super) fn section(memory: &ObservedMemory, places: &Places<'_>) -> Markup {
    html! {
        section #memory-graph aria-labelledby="memory-graph-title" {
            h2 #memory-graph-title { "Around artifacts" }
            @for graph in &memory.graphs { (one(graph, places)) }
            @if memory.more_artifacts > 0 {
                p .more {
                    "… and " (wording::count(memory.more_artifacts, "artifact")) " more, "
                    code { "stepmark memory graph PATH" }
                }
            }
        }
    }
}

fn one(graph: &Neighbourhood, places: &Places<'_>) -> Markup {
    let Some((_, label, _)) = graph.nodes.first() else { return Markup::default() };
    let name = plain(label, NAME);
    let at: HashMap<&Node, usize> =
        graph.nodes.iter().enumerate().map(|(at, (node, ..))| (node, at)).collect();
    let names: Vec<String> = graph.nodes.iter().map(|(_, label, _)| plain(label, NAME)).collect();
    let ends = |one: &Node, other: &Node| Some((*at.get(one)?, *at.get(other)?));
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    // Nearer nodes come first, so there is no cycle.
    for (one, other) in graph.edges.iter().filter_map(|edge| ends(&edge.from, &edge.to)) {
        let (first, last) = (one.min(other), one.max(other));
        if first < last && !behind[last].contains(&first) {
            behind[last].push(first);
        }
    }
    let short: Vec<String> = graph.nodes.iter().map(short).collect();
    let is_superseded =
        |node: &Node| graph.edges.iter().any(|edge| edge.kind == EdgeKind::Supersedes && edge.to == *node);
    let shapes: Vec<Shape<'_>> = graph
        .nodes
        .iter()
        .zip(names.iter().map(String::as_str).zip(short.iter().map(String::as_str)))
        .map(|(seen, names)| shape(seen, names, is_superseded(&seen.0), places))
        .collect();
    html! {
        h3 { (linked(places.artifact(label), &name)) }
        (drawing((&name, "Nodes"), &shapes, &behind, Lines::All))
        @if graph.is_cut { p .more { "… and more, " code { "stepmark memory graph PATH" } } }
        details {
            summary { strong { "Edges" } }
            ul .plain {
                @for edge in &graph.edges {
                    @if let Some((from, to)) = ends(&edge.from, &edge.to) {
                        li { (names[from]) " " span .tag { (edge.kind.as_str()) } " " (names[to]) }
                    }
                }
            }
        }
    }
}

/// Files without their folders.
fn short((node, label, _): &Seen) -> String {
    let is_file = matches!(node.kind, NodeKind::Artifact | NodeKind::File);
    plain(label.rsplit('/').next().filter(|_| is_file).unwrap_or(label), SHORT)
}

fn shape<'n>(
    seen: &Seen,
    (name, short): (&str, &'n str),
    is_superseded: bool,
    places: &Places<'_>,
) -> Shape<'n> {
    let (node, label, steps) = seen;
    let (mark, class) = match node.kind {
        NodeKind::Memory if is_superseded => ("○", "open"),
        NodeKind::Memory => ("◆", "ready"),
        NodeKind::Artifact | NodeKind::File if *steps == 0 => ("▶", "underway"),
        NodeKind::Artifact | NodeKind::File => ("▷", "done"),
        _ => ("·", ""),
    };
    let word = if is_superseded { "superseded memory" } else { node.kind.as_str() };
    Shape {
        name: short,
        below: format!("{mark} {word}"),
        class,
        // The visible words come first: users of voice control say them.
        said: if name == short { format!("{name}: {word}") } else { format!("{short}: {word}, {name}") },
        hint: "",
        address: match node.kind {
            NodeKind::Memory => places.record(&node.name),
            NodeKind::Artifact | NodeKind::File => places.artifact(label),
            _ => None,
        },
    }
}
