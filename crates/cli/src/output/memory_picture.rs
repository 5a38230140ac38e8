//! A part of the graph of memory as an SVG picture, laid out by `layout-rs`.

use std::collections::HashMap;

use layout::{
    backends::svg::SVGWriter,
    core::{
        base::Orientation,
        color::Color,
        geometry::Point,
        style::{LineStyleKind, StyleAttr},
    },
    std_shapes::shapes::{Arrow, Element, LineEndKind, ShapeKind},
    topo::layout::VisualGraph,
};
use stepmark_memory::{NodeKind, context::plain, store::Neighbourhood};

/// The size of letters, in pixels.
const FONT: usize = 13;

/// The picture: memories yellow, artifacts and files blue, all others white.
pub(crate) fn picture(found: &Neighbourhood) -> String {
    let mut graph = VisualGraph::new(Orientation::LeftToRight);
    let mut places = HashMap::new();
    for (node, label, _) in &found.nodes {
        let fill = match node.kind {
            NodeKind::Memory => "lightyellow",
            NodeKind::Artifact | NodeKind::File => "lightblue",
            _ => "white",
        };
        places.insert(node, graph.add_node(element(&plain(label, 40), fill)));
    }
    for edge in &found.edges {
        let (Some(from), Some(to)) = (places.get(&edge.from), places.get(&edge.to)) else { continue };
        let style = StyleAttr::new(Color::fast("black"), 1, None, 0, FONT);
        let ends = (LineEndKind::None, LineEndKind::Arrow);
        let word = edge.kind.as_str();
        let arrow = Arrow::new(ends.0, ends.1, LineStyleKind::Normal, word, &style, &None, &None);
        graph.add_edge(arrow, *from, *to);
    }
    let mut svg = SVGWriter::new();
    graph.do_it(false, false, false, &mut svg);
    svg.finalize()
}

fn element(label: &str, fill: &str) -> Element {
    let style = StyleAttr::new(Color::fast("black"), 1, Some(Color::fast(fill)), 8, FONT);
    let letters = label.chars().count().max(4);
    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 52 bits")]
    let size = Point::new((letters * FONT) as f64 * 0.7 + 20.0, FONT as f64 * 2.4);
    Element::create(ShapeKind::new_box(label), style, Orientation::LeftToRight, size)
}
