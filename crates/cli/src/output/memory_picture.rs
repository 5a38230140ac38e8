//! A part of the graph of memory as an SVG picture.

use stepmark_memory::{Node, NodeKind, context::plain, store::Neighbourhood};

use super::svg::drawn;

/// The picture: memories yellow, artifacts and files blue, all others white.
pub(crate) fn picture(found: &Neighbourhood) -> String {
    let boxes: Vec<_> =
        found.nodes.iter().map(|(node, label, _)| (plain(label, 40), colour(node.kind))).collect();
    let place = |wanted: &Node| found.nodes.iter().position(|(node, ..)| node == wanted);
    let lines = found.edges.iter().filter_map(|edge| {
        Some(((place(&edge.from)?, place(&edge.to)?), edge.kind.as_str().to_owned(), false))
    });
    drawn(&boxes, &lines.collect::<Vec<_>>())
}

const fn colour(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Memory => "lightyellow",
        NodeKind::Artifact | NodeKind::File => "lightblue",
        _ => "white",
    }
}
