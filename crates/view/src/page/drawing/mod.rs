//! Graphs as SVG, in a reading order for keyboards and screen readers.

use std::fmt::Write as _;

use maud::{Markup, html};

/// Width and height in pixels.
const SIZE: (usize, usize) = (178, 46);
const STEP: (usize, usize) = (SIZE.0 + 44, SIZE.1 + 16);
const EDGE: usize = 6;
const CHARACTERS: usize = 22;

pub(super) struct Shape<'s> {
    pub(super) name: &'s str,
    pub(super) below: String,
    /// Styles the box and its outgoing lines.
    pub(super) class: &'static str,
    /// For screen readers.
    pub(super) said: String,
    /// The tooltip; may be empty.
    pub(super) hint: &'s str,
    pub(super) address: Option<String>,
}

/// Shapes are to the right of those in `behind`; `of` and `what` name the graph and its boxes.
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

/// Including bends. In larger graphs lines go straight.
const MOST: usize = 4000;
/// Passes of ordering the layers, forward and back.
const SWEEPS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    All,
    /// Leaves out implied lines: if `c` waits for `b` and `b` for `a`, there is none from `a` to `c`.
    Direct,
}

/// Nodes are in layers after all that they wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Layers {
    /// Layer and row (in half rows) of each task, then of the bends.
    places: Vec<(usize, usize)>,
    lines: Vec<Vec<usize>>,
    layers: usize,
    rows: usize,
}

impl Layers {
    /// `waits_for` has indices. In a cycle no node is after all it waits for.
    fn of(waits_for: &[Vec<usize>], lines: Lines) -> Self {
        let order = topological(waits_for);
        let mut layer = vec![0_usize; waits_for.len()];
        for &task in &order {
            layer[task] = waits_for[task].iter().map(|other| layer[*other] + 1).max().unwrap_or(0);
        }
        let mut lines = match lines {
            Lines::Direct => reduced(waits_for, &order),
            Lines::All => {
                order.iter().flat_map(|to| waits_for[*to].iter().map(|from| vec![*from, *to])).collect()
            }
        };
        let bends: usize = lines.iter().map(|line| (layer[line[1]] - layer[line[0]]).saturating_sub(1)).sum();
        if layer.len() + bends <= MOST {
            for line in &mut lines {
                let (from, to) = (line[0], line[1]);
                *line = vec![from];
                for between in layer[from] + 1..layer[to] {
                    line.push(layer.len());
                    layer.push(between);
                }
                line.push(to);
            }
        }
        let columns = ordered(&layer, &lines);
        let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
        let mut places: Vec<(usize, usize)> = layer.iter().map(|layer| (*layer, 0)).collect();
        for column in &columns {
            column.iter().enumerate().for_each(|(at, place)| places[*place].1 = 2 * at + rows - column.len());
        }
        Self { places, lines, layers: columns.len(), rows }
    }
}

fn topological(waits_for: &[Vec<usize>]) -> Vec<usize> {
    let mut open: Vec<usize> = waits_for.iter().map(Vec::len).collect();
    let mut frees: Vec<Vec<usize>> = vec![Vec::new(); waits_for.len()];
    for (task, others) in waits_for.iter().enumerate() {
        others.iter().for_each(|other| frees[*other].push(task));
    }
    let mut order: Vec<usize> = (0..open.len()).filter(|task| open[*task] == 0).collect();
    let mut at = 0;
    while let Some(&done) = order.get(at) {
        at += 1;
        for &task in &frees[done] {
            open[task] -= 1;
            if open[task] == 0 {
                order.push(task);
            }
        }
    }
    order
}

/// The transitive reduction.
fn reduced(waits_for: &[Vec<usize>], order: &[usize]) -> Vec<Vec<usize>> {
    let words = waits_for.len().div_ceil(64);
    let mut before = vec![vec![0_u64; words]; waits_for.len()];
    let mut lines = Vec::new();
    for &task in order {
        let mut behind_others = vec![0_u64; words];
        for &other in &waits_for[task] {
            behind_others.iter_mut().zip(&before[other]).for_each(|(own, its)| *own |= its);
        }
        let has = |set: &[u64], one: usize| set[one / 64] >> (one % 64) & 1 == 1;
        let direct = waits_for[task].iter().filter(|other| !has(&behind_others, **other));
        lines.extend(direct.map(|other| vec![*other, task]));
        waits_for[task].iter().for_each(|other| behind_others[other / 64] |= 1 << (other % 64));
        before[task] = behind_others;
    }
    lines
}

/// Few crossings: each node is near the mean of its neighbours.
fn ordered(layer: &[usize], lines: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); layer.iter().max().map_or(0, |last| last + 1)];
    layer.iter().enumerate().for_each(|(place, layer)| columns[*layer].push(place));
    let mut tied: [Vec<Vec<usize>>; 2] = [vec![Vec::new(); layer.len()], vec![Vec::new(); layer.len()]];
    for pair in lines.iter().flat_map(|line| line.windows(2)) {
        tied[0][pair[1]].push(pair[0]);
        tied[1][pair[0]].push(pair[1]);
    }
    let mut row = vec![0_usize; layer.len()];
    let number = |column: &[usize], row: &mut Vec<usize>| {
        column.iter().enumerate().for_each(|(at, place)| row[*place] = at);
    };
    columns.iter().for_each(|column| number(column, &mut row));
    for sweep in 0..2 * SWEEPS {
        let there: Vec<usize> = match sweep % 2 {
            0 => (0..columns.len()).collect(),
            _ => (0..columns.len()).rev().collect(),
        };
        for at in there {
            let middle = |place: &usize| {
                let ties = &tied[sweep % 2][*place];
                let sum: usize = ties.iter().map(|tie| row[*tie]).sum();
                // In thousandths, for exact comparison.
                (sum * 1000).checked_div(ties.len()).unwrap_or(row[*place] * 1000)
            };
            columns[at].sort_by_key(middle);
            number(&columns[at], &mut row);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_stands_behind_and_lines_do_not_cross_without_need() {
        // a → (b, c, d), d → e, (b, c, e) → f; f names a, too.
        let waits_for = [vec![], vec![0], vec![0], vec![0], vec![3], vec![1, 2, 4, 0]];
        let drawn = Layers::of(&waits_for, Lines::Direct);
        let layers: Vec<usize> = drawn.places.iter().map(|(layer, _)| *layer).collect();
        assert_eq!(layers[..6], [0, 1, 1, 1, 2, 3]);
        assert_eq!((drawn.layers, drawn.rows), (4, 3));
        assert!(!drawn.lines.iter().any(|line| line[0] == 0 && line.last() == Some(&5)), "it follows");
        assert!(drawn.lines.iter().any(|line| line.len() == 3 && line[0] == 1), "a long line bends");
        let all = Layers::of(&waits_for, Lines::All);
        assert_eq!((all.lines.len(), all.lines.iter().filter(|line| line[0] == 0).count()), (8, 4));
        // Two pairs that would cross as they are listed.
        let drawn = Layers::of(&[vec![], vec![], vec![1], vec![0]], Lines::Direct);
        assert_eq!(drawn.places[2].1, drawn.places[1].1);
        assert_eq!(Layers::of(&[], Lines::Direct), Layers::default());
    }

    #[test]
    fn a_thousand_tasks_and_a_circle_are_drawn() {
        let chain: Vec<Vec<usize>> = (0_usize..1000)
            .map(|task| (0..task).rev().take(3).chain((task > 3).then_some(0)).collect())
            .collect();
        assert_eq!(Layers::of(&chain, Lines::Direct).lines.len(), 999);
        let wide: Vec<Vec<usize>> =
            (0..1000).map(|task| if task < 500 { vec![] } else { vec![task - 500] }).collect();
        let wide = Layers::of(&wide, Lines::Direct);
        assert_eq!((wide.layers, wide.rows), (2, 500));
        assert_eq!(Layers::of(&[vec![1], vec![0]], Lines::All).places.len(), 2);
    }
}
