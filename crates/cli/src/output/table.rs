//! Tables for people: one line a row. On a terminal a line is no wider than that; elsewhere it is whole, so
//! that lines can be searched and cut.

use std::ops::Range;

use stepmark_store::disk::par_map;

use super::{
    fitted::{fitted_cell, is_plain, path_in},
    line_width, on_one_line, width,
};

const GAP: usize = 2;

/// The least width that a column is cut to: one of paths, and any other.
const NARROW_PATHS: usize = 28;
const NARROW: usize = 8;

pub(crate) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    lay_out(&[Lines::of([header]), Lines::of(rows)], line_width())
}

pub(crate) fn long_table<T: Sync>(
    header: &[&str],
    rows: &[T],
    cells: impl Fn(&T) -> Vec<String> + Sync,
) -> String {
    // Several parts for each processor. Many small texts that stay would be slow to get and to give back.
    let parts: Vec<&[T]> = rows.chunks(rows.len().div_ceil(PARTS).max(1)).collect();
    let mut lines = vec![Lines::of([header])];
    lines.extend(par_map(&parts, |part| Lines::of(part.iter().map(&cells))));
    lay_out(&lines, line_width())
}

const PARTS: usize = 256;

#[derive(Default)]
struct Lines {
    text: String,
    /// The place of each cell in the text, and its width.
    cells: Vec<(Range<usize>, usize)>,
    /// The number of cells up to the end of each line.
    ends: Vec<usize>,
}

impl Lines {
    fn of<T: AsRef<str>>(rows: impl IntoIterator<Item = impl AsRef<[T]>>) -> Self {
        let mut lines = Self::default();
        for row in rows {
            for cell in row.as_ref() {
                let start = lines.text.len();
                match cell.as_ref() {
                    cell if is_plain(cell) => lines.text.push_str(cell),
                    cell => lines.text.push_str(&on_one_line(cell)),
                }
                let wide = width(&lines.text[start..]);
                lines.cells.push((start..lines.text.len(), wide));
            }
            lines.ends.push(lines.cells.len());
        }
        lines
    }

    fn rows(&self) -> impl Iterator<Item = impl Iterator<Item = (&str, usize)>> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let row = &self.cells[start..*end];
            start = *end;
            row.iter().map(|(range, wide)| (&self.text[range.clone()], *wide))
        })
    }
}

fn lay_out(parts: &[Lines], room: usize) -> String {
    let rows = || parts.iter().flat_map(Lines::rows);
    let columns = rows().map(Iterator::count).max().unwrap_or_default();
    let mut widths = vec![0; columns];
    let mut least = vec![NARROW; columns];
    for row in rows() {
        for (at, (cell, wide)) in row.enumerate() {
            widths[at] = wide.max(widths[at]);
            let is_path = room < usize::MAX && path_in(cell).is_some();
            least[at] = if is_path { NARROW_PATHS } else { least[at] };
        }
    }
    let gaps = GAP * columns.saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > room
        && let Some(widest) = (0..columns).filter(|at| widths[*at] > least[*at]).max_by_key(|at| widths[*at])
    {
        widths[widest] -= 1;
    }
    let blanks = " ".repeat(widths.iter().max().unwrap_or(&0) + GAP);
    let mut text = String::new();
    for (place, row) in rows().enumerate() {
        text.push_str(if place == 0 { "" } else { "\n" });
        for ((cell, own), wide) in row.zip(&widths) {
            let fitted = (own > *wide).then(|| fitted_cell(cell, *wide));
            text.push_str(fitted.as_deref().unwrap_or(cell));
            text.push_str(&blanks[..wide + GAP - fitted.map_or(own, |cell| width(&cell))]);
        }
        text.truncate(text.trim_end().len());
    }
    text
}

pub(crate) fn bar(done: usize, total: usize) -> String {
    const WIDTH: usize = 10;
    let filled = if total == 0 { 0 } else { (done * WIDTH).div_ceil(total).min(WIDTH) };
    // Only a finished workflow has a full bar.
    let filled = if done < total { filled.min(WIDTH - 1) } else { filled };
    format!("{}{} {done}/{total}", "█".repeat(filled), "░".repeat(WIDTH - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_columns_are_cut_and_short_ones_stay() {
        let rows = [Lines::of([
            ["ARTIFACT", "DONE", "STATUS"],
            ["docs/a-long-name/of-an-artifact.md", "3/5", "ready-for-dev"],
        ])];
        assert_eq!(
            lay_out(&rows, usize::MAX),
            "ARTIFACT                            DONE  STATUS\ndocs/a-long-name/of-an-artifact.md  3/5   ready-for-dev"
        );
        assert_eq!(
            lay_out(&rows, 50),
            "ARTIFACT                       DONE  STATUS\n…-long-name/of-an-artifact.md  3/5   ready-for-dev"
        );
        assert_eq!(lay_out(&rows, 5).lines().map(width).max(), Some(28 + 2 + 4 + 2 + 8), "no column is lost");
    }
}
