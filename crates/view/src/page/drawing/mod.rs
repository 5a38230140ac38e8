//! A graph as SVG that keyboard and screen readers go through in the order of its boxes.

mod layers;

use std::fmt::Write as _;

use maud::{Markup, html};

use self::layers::Layers;
pub(super) use self::layers::Lines;

/// Width and height of a box, in the units of the drawing: pixels.
const SIZE: (usize, usize) = (178, 46);
const STEP: (usize, usize) = (SIZE.0 + 44, SIZE.1 + 16);
const EDGE: usize = 6;
const CHARACTERS: usize = 22;

pub(super) struct Shape<'s> {
    /// Its first line.
    pub(super) name: &'s str,
    pub(super) below: String,
    /// The class that gives it and the lines that leave it their look.
    pub(super) class: &'static str,
    /// The text for whoever does not see it.
    pub(super) said: String,
    /// The text that is shown besides where it is pointed at; may be empty.
    pub(super) hint: &'s str,
    pub(super) address: Option<String>,
}

/// The graph of `shapes`, each of which stands behind those that `behind` gives by their places. `of` says
/// what it is a graph of, and `what` what its boxes are.
pub(super) fn drawing(
    (of, what): (&str, &str),
    shapes: &[Shape<'_>],
    behind: &[Vec<usize>],
    lines: Lines,
) -> Markup {
    let layers = Layers::of(behind, lines);
    let width = 2 * EDGE + layers.layers.saturating_sub(1) * STEP.0 + SIZE.0;
    let height = 2 * EDGE + layers.rows.saturating_sub(1) * STEP.1 + SIZE.1;
    html! {
        div .graph.scroll tabindex="0" role="region" aria-label={ "Graph of " (of) } {
            svg width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="group" aria-label={ (what) " of " (of) } {
                @for line in &layers.lines {
                    path class={ "line " (shapes[line[0]].class) } d=(way(line, &layers)) {}
                }
                @for (shape, at) in shapes.iter().zip(&layers.places) { (drawn(shape, corner(*at))) }
            }
        }
    }
}

const fn corner((layer, half_row): (usize, usize)) -> (usize, usize) {
    (EDGE + layer * STEP.0, EDGE + half_row * STEP.1 / 2)
}

fn way(line: &[usize], layers: &Layers) -> String {
    let mut way = String::new();
    let last = line.len() - 1;
    let mut before = (0, 0);
    for (at, place) in line.iter().enumerate() {
        let (x, y) = corner(layers.places[*place]);
        let middle = y + SIZE.1 / 2;
        if at > 0 {
            let half = (before.0 + x) / 2;
            let (from, to) = (before.1, middle);
            let _ = write!(way, "C{half} {from} {half} {to} {x} {to}");
        } else {
            let _ = write!(way, "M{} {middle}", x + SIZE.0);
        }
        if at > 0 && at < last {
            let _ = write!(way, "H{}", x + SIZE.0);
        }
        before = (x + SIZE.0, middle);
    }
    way
}

fn drawn(shape: &Shape<'_>, (x, y): (usize, usize)) -> Markup {
    let Shape { name, below, class, said, hint, address } = shape;
    let inside = html! {
        title { (said) @if !hint.is_empty() { " – " (hint) } }
        rect x=(x) y=(y) width=(SIZE.0) height=(SIZE.1) rx="7" {}
        text x=(x + 12) y=(y + 19) .name { (shortened(name)) }
        text x=(x + 12) y=(y + 36) { (below) }
    };
    html! {
        @match address {
            Some(address) => a class={ "node " (class) } href=(address) aria-label=(said) { (inside) },
            None => g class={ "node " (class) } role="img" aria-label=(said) { (inside) },
        }
    }
}

fn shortened(title: &str) -> String {
    match title.char_indices().nth(CHARACTERS) {
        None => title.to_owned(),
        Some((end, _)) => format!("{}…", title[..end].trim_end()),
    }
}
