//! Tables for people: one line a row. On a terminal a line is no wider than that; elsewhere it is whole, so
//! that lines can be searched and cut.

use std::borrow::Cow;

use super::{
    fitted::{fitted_cell, path_in},
    line_width, on_one_line, width,
};

/// Between columns.
const GAP: usize = 2;

/// The least width that a column is cut to: one of paths, and any other.
const NARROW_PATHS: usize = 28;
const NARROW: usize = 8;

/// A table with a header and no frame.
pub(crate) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let header: Vec<String> = header.iter().map(|cell| (*cell).to_owned()).collect();
    let rows = rows.into_iter().map(|row| row.iter().map(|cell| on_one_line(cell)).collect());
    lay_out(&std::iter::once(header).chain(rows).collect::<Vec<_>>(), line_width())
}

/// Lays the cells out in lines of at most `room` columns, as far as that is possible: the widest columns are
/// cut.
fn lay_out(rows: &[Vec<String>], room: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let mut widths = vec![0; columns];
    let mut least = vec![NARROW; columns];
    for row in rows {
        for (at, cell) in row.iter().enumerate() {
            widths[at] = width(cell).max(widths[at]);
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
    let mut text = String::new();
    for (place, row) in rows.iter().enumerate() {
        text.push_str(if place == 0 { "" } else { "\n" });
        for (cell, wide) in row.iter().zip(&widths) {
            let cell = if room == usize::MAX { Cow::from(cell) } else { fitted_cell(cell, *wide).into() };
            text.push_str(&cell);
            text.extend(std::iter::repeat_n(' ', wide + GAP - width(&cell)));
        }
        text.truncate(text.trim_end().len());
    }
    text
}

/// `███░░ 3/5`
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
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["ARTIFACT", "DONE", "STATUS"]),
            row(["docs/a-long-name/of-an-artifact.md", "3/5", "ready-for-dev"]),
        ];
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
