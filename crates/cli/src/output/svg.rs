//! Graphs as SVG, laid out by `layout-rs`.

use std::fmt::Write;

use super::on_one_line;
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
use stepmark_memory::{Node, NodeKind, context::plain, store::Neighbourhood};
use stepmark_model::lifecycle::{Lifecycle, LifecycleState};

const FONT: usize = 15;

/// Indices of both boxes, text, dashed or not.
type Line = ((usize, usize), String, bool);

fn drawn(boxes: &[(String, &str)], lines: &[Line]) -> String {
    let mut graph = VisualGraph::new(Orientation::LeftToRight);
    let nodes: Vec<_> = boxes.iter().map(|(text, fill)| graph.add_node(element(text, fill))).collect();
    for ((from, to), text, is_dashed) in lines {
        let (Some(from), Some(to)) = (nodes.get(*from), nodes.get(*to)) else { continue };
        let line = if *is_dashed { LineStyleKind::Dashed } else { LineStyleKind::Normal };
        let style = StyleAttr::new(Color::fast("black"), 1, None, 0, FONT);
        let arrow = Arrow::new(LineEndKind::None, LineEndKind::Arrow, line, text, &style, &None, &None);
        graph.add_edge(arrow, *from, *to);
    }
    let mut svg = SVGWriter::new();
    graph.do_it(false, false, false, &mut svg);
    svg.finalize()
}

fn element(text: &str, fill: &str) -> Element {
    let style = StyleAttr::new(Color::fast("black"), 1, Some(Color::fast(fill)), 8, FONT);
    let letters = text.chars().count().max(4);
    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 52 bits")]
    let size = Point::new((letters * FONT) as f64 * 0.7 + 20.0, FONT as f64 * 2.4);
    Element::create(ShapeKind::new_box(text), style, Orientation::LeftToRight, size)
}

/// Initial states are blue, terminal ones green; returns are dashed.
pub(crate) fn picture(lifecycle: &Lifecycle) -> String {
    let boxes: Vec<_> =
        lifecycle.states().iter().map(|state| (on_one_line(&state.name), colour(state))).collect();
    let place = |name: &str| lifecycle.states().iter().position(|state| state.name == name);
    let lines = lifecycle.moves().filter_map(|legal| {
        let text = label(legal.guards.iter().map(ToString::to_string), legal.is_return);
        Some(((place(&legal.from.name)?, place(&legal.to.name)?), on_one_line(&text), legal.is_return))
    });
    drawn(&boxes, &lines.collect::<Vec<_>>())
}

const fn colour(state: &LifecycleState) -> &'static str {
    match (state.is_initial, state.is_terminal) {
        (_, true) => "palegreen",
        (true, false) => "lightblue",
        (false, false) => "white",
    }
}

/// Memories are yellow, artifacts and files blue, others white.
pub(crate) fn memory_picture(found: &Neighbourhood) -> String {
    let boxes: Vec<_> =
        found.nodes.iter().map(|(node, label, _)| (plain(label, 40), node_colour(node.kind))).collect();
    let place = |wanted: &Node| found.nodes.iter().position(|(node, ..)| node == wanted);
    let lines = found.edges.iter().filter_map(|edge| {
        Some(((place(&edge.from)?, place(&edge.to)?), edge.kind.as_str().to_owned(), false))
    });
    drawn(&boxes, &lines.collect::<Vec<_>>())
}

const fn node_colour(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Memory => "lightyellow",
        NodeKind::Artifact | NodeKind::File => "lightblue",
        _ => "white",
    }
}

/// A Mermaid diagram, for GitHub and editors. States are numbered, since names may contain anything.
pub(crate) fn state_diagram(lifecycle: &Lifecycle) -> String {
    let place =
        |name: &str| lifecycle.states().iter().position(|state| state.name == name).unwrap_or_default();
    let mut text = "stateDiagram-v2\n".to_owned();
    for (at, state) in lifecycle.states().iter().enumerate() {
        let _ = writeln!(text, "    state \"{}\" as s{at}", escaped(&state.name));
    }
    for (at, _) in lifecycle.states().iter().enumerate().filter(|(_, state)| state.is_initial) {
        let _ = writeln!(text, "    [*] --> s{at}");
    }
    for legal in lifecycle.moves() {
        let _ = write!(text, "    s{} --> s{}", place(&legal.from.name), place(&legal.to.name));
        let label = label(legal.guards.iter().map(ToString::to_string), legal.is_return);
        let _ = match label.as_str() {
            "" => writeln!(text),
            label => writeln!(text, " : {}", escaped(label)),
        };
    }
    for (at, _) in lifecycle.states().iter().enumerate().filter(|(_, state)| state.is_terminal) {
        let _ = writeln!(text, "    s{at} --> [*]");
    }
    text
}

pub(super) fn label(guards: impl Iterator<Item = String>, is_return: bool) -> String {
    if is_return { "back".to_owned() } else { guards.collect::<Vec<_>>().join(", ") }
}

/// For Mermaid: `#34;` for a quote; no character ends the label.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '#' | ';' | ':' | '<' | '>' | '&' | '\\' | '`' => {
                let _ = write!(safe, "#{};", u32::from(letter));
            }
            letter if letter.is_control() => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_its_label() {
        assert_eq!(escaped("a \"b\"\n: c;"), "a #34;b#34; #58; c#59;");
    }
}
