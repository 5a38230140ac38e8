//! A lifecycle as an SVG picture, laid out by `layout-rs`.

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
use stepmark_model::lifecycle::{Lifecycle, LifecycleState};

use super::{mermaid::label, on_one_line};

/// The size of letters, in pixels.
const FONT: usize = 15;

/// The picture. States in which work begins are blue, those in which it ends green; a way back is dashed.
pub(crate) fn picture(lifecycle: &Lifecycle) -> String {
    let mut graph = VisualGraph::new(Orientation::LeftToRight);
    let nodes: Vec<_> = lifecycle.states().iter().map(|state| graph.add_node(element(state))).collect();
    let node = |name: &str| {
        let place = lifecycle.states().iter().position(|state| state.name == name);
        place.and_then(|place| nodes.get(place)).copied()
    };
    for legal in lifecycle.moves() {
        let (Some(from), Some(to)) = (node(&legal.from.name), node(&legal.to.name)) else { continue };
        let line = if legal.is_return { LineStyleKind::Dashed } else { LineStyleKind::Normal };
        let text = label(legal.guards.iter().map(ToString::to_string), legal.is_return);
        let style = StyleAttr::new(Color::fast("black"), 1, None, 0, FONT);
        let arrow = Arrow::new(
            LineEndKind::None,
            LineEndKind::Arrow,
            line,
            &on_one_line(&text),
            &style,
            &None,
            &None,
        );
        graph.add_edge(arrow, from, to);
    }
    let mut svg = SVGWriter::new();
    graph.do_it(false, false, false, &mut svg);
    svg.finalize()
}

fn element(state: &LifecycleState) -> Element {
    let fill = match (state.is_initial, state.is_terminal) {
        (_, true) => "palegreen",
        (true, false) => "lightblue",
        (false, false) => "white",
    };
    let style = StyleAttr::new(Color::fast("black"), 1, Some(Color::fast(fill)), 8, FONT);
    let shape = ShapeKind::new_box(&on_one_line(&state.name));
    let letters = state.name.chars().count().max(4);
    #[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 52 bits")]
    let size = Point::new((letters * FONT) as f64 * 0.7 + 20.0, FONT as f64 * 2.4);
    Element::create(shape, style, Orientation::LeftToRight, size)
}
