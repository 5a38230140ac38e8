//! A flow as a graph: SVG that keyboard and screen readers go through in the order of the graph.

use std::{collections::HashMap, fmt::Write as _};

use maud::{Markup, html};

use super::{layers::Layers, task::Task};
use crate::observation::ObservedFlow;

/// Width and height of a task, in the units of the drawing: pixels.
const TASK: (usize, usize) = (178, 46);
/// The distance to the next layer and to the next row.
const STEP: (usize, usize) = (TASK.0 + 44, TASK.1 + 16);
/// The distance to the edges, wide enough for the ring of the focus.
const EDGE: usize = 6;
/// The most characters of a title that have room.
const CHARACTERS: usize = 22;

/// The graph of `flow`, whose tasks are `tasks`.
pub(super) fn drawing(flow: &ObservedFlow, tasks: &[Task<'_>]) -> Markup {
    let place: HashMap<&str, usize> = tasks.iter().enumerate().map(|(at, task)| (task.id, at)).collect();
    let waits_for =
        |task: &Task<'_>| task.waits_for.iter().filter_map(|id| place.get(id.as_str()).copied()).collect();
    let layers = Layers::of(&tasks.iter().map(waits_for).collect::<Vec<_>>());
    let width = 2 * EDGE + layers.layers.saturating_sub(1) * STEP.0 + TASK.0;
    let height = 2 * EDGE + layers.rows.saturating_sub(1) * STEP.1 + TASK.1;
    let id = flow.state.flow.id();
    html! {
        div .graph.scroll tabindex="0" role="region" aria-label={ "Graph of " (id) } {
            svg width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="group" aria-label={ "Tasks of " (id) } {
                @for line in &layers.lines {
                    path class={ "line " (tasks[line[0]].class()) } d=(way(line, &layers)) {}
                }
                @for (task, at) in tasks.iter().zip(&layers.places) { (node(task, corner(*at))) }
            }
        }
    }
}

/// The upper left corner of what stands in a layer and a row.
const fn corner((layer, half_row): (usize, usize)) -> (usize, usize) {
    (EDGE + layer * STEP.0, EDGE + half_row * STEP.1 / 2)
}

/// The way of a line, from the right of a task to the left of the one that waits for it.
fn way(line: &[usize], layers: &Layers) -> String {
    let mut way = String::new();
    let last = line.len() - 1;
    let mut before = (0, 0);
    for (at, place) in line.iter().enumerate() {
        let (x, y) = corner(layers.places[*place]);
        let middle = y + TASK.1 / 2;
        if at > 0 {
            let half = (before.0 + x) / 2;
            let (from, to) = (before.1, middle);
            let _ = write!(way, "C{half} {from} {half} {to} {x} {to}");
        } else {
            let _ = write!(way, "M{} {middle}", x + TASK.0);
        }
        if at > 0 && at < last {
            let _ = write!(way, "H{}", x + TASK.0);
        }
        before = (x + TASK.0, middle);
    }
    way
}

fn node(task: &Task<'_>, (x, y): (usize, usize)) -> Markup {
    let said = format!("{}: {}, {}", task.title, task.word(), task.tries);
    let drawn = html! {
        title { (said) @if !task.command.is_empty() { " – " (task.command) } }
        rect x=(x) y=(y) width=(TASK.0) height=(TASK.1) rx="7" {}
        text x=(x + 12) y=(y + 19) .name { (shortened(task.title)) }
        text x=(x + 12) y=(y + 36) { (task.mark()) " " (task.word()) }
    };
    html! {
        @match &task.address {
            Some(address) => a class={ "node " (task.class()) } href=(address) aria-label=(said) { (drawn) },
            None => g class={ "node " (task.class()) } role="img" aria-label=(said) { (drawn) },
        }
    }
}

fn shortened(title: &str) -> String {
    match title.char_indices().nth(CHARACTERS) {
        None => title.to_owned(),
        Some((end, _)) => format!("{}…", title[..end].trim_end()),
    }
}
