//! Rows in 80 columns: what is too long is cut, the names last.

use crate::output::{fitted, on_one_line, width};

const LINE: usize = 80;
const GAP: usize = 2;
const HEADER: [&str; 5] = ["ARTIFACT", "DONE", "STATUS", "NEXT", "PROBLEMS"];
/// The columns that are cut where a line is too long, each with its least width, in the order in which they
/// are cut.
const SHRINKING: [(usize, usize); 5] = [(2, 13), (0, 36), (3, 18), (0, 28), (3, 8)];

pub(super) enum Row {
    Heading(String),
    /// An artifact: its name, steps, status, next step and problems; nothing where it says nothing.
    Artifact {
        cells: [String; 5],
        is_inner: bool,
        is_child: bool,
    },
}

pub(super) fn lay_out(rows: &[Row]) -> Vec<String> {
    let mut table = vec![HEADER.map(str::to_owned)];
    table.extend(rows.iter().filter_map(|row| match row {
        Row::Heading(_) => None,
        Row::Artifact { cells, is_inner, is_child } => {
            let indent = "  ".repeat(usize::from(*is_inner) + usize::from(*is_child));
            let mut cells = cells.clone().map(|cell| on_one_line(&cell));
            cells[0].insert_str(0, &indent);
            Some(cells)
        }
    }));
    let widths = widths(&table);
    let mut lines = table.into_iter().map(|cells| line(&cells, widths));
    let header = lines.next();
    let below = rows.iter().map(|row| match row {
        Row::Heading(name) => fitted(&on_one_line(name), LINE),
        Row::Artifact { .. } => lines.next().unwrap_or_default(),
    });
    header.into_iter().chain(below).collect()
}

/// The width of each column; 0 of one that is left out.
fn widths(table: &[[String; 5]]) -> [usize; 5] {
    let column = |at: usize| {
        let is_used = table.iter().skip(1).any(|cells| !cells[at].is_empty());
        let widest = table.iter().map(|cells| width(&cells[at])).max().unwrap_or_default();
        if is_used { widest } else { 0 }
    };
    let mut widths = std::array::from_fn(column);
    for (at, least) in SHRINKING {
        let used = widths.iter().filter(|width| **width > 0);
        let over = (used.sum::<usize>() + GAP * (widths.iter().filter(|width| **width > 0).count() - 1))
            .saturating_sub(LINE);
        widths[at] = widths[at].saturating_sub(over).max(least.min(widths[at]));
    }
    widths
}

fn line(cells: &[String; 5], widths: [usize; 5]) -> String {
    let mut line = String::new();
    for (cell, wide) in cells.iter().zip(widths).filter(|(_, wide)| *wide > 0) {
        let cell = fitted(if cell.is_empty() { "-" } else { cell }, wide);
        line += &cell;
        line.extend(std::iter::repeat_n(' ', wide + GAP - width(&cell)));
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_80_columns() {
        let long = "wide 漢字 and e\u{301} longer than a line can be ".repeat(3);
        for filled in 1..32_u8 {
            let cell =
                |at: usize, texts: [&str; 5]| if filled & (1 << at) == 0 { "" } else { texts[at] }.to_owned();
            let cells =
                std::array::from_fn(|at| cell(at, [&long, "1000/1000", &long, &long, "100 warnings"]));
            let short = std::array::from_fn(|at| cell(at, ["prd", "5/14", "draft", "step-2", "1 error"]));
            let rows = [
                Row::Heading(long.clone()),
                Row::Artifact { cells, is_inner: true, is_child: false },
                Row::Artifact { cells: short, is_inner: false, is_child: false },
            ];
            let lines = lay_out(&rows);
            assert_eq!(lines.len(), 4);
            for line in lines {
                assert!(width(&line) <= LINE, "{} {line}", width(&line));
            }
        }
    }
}
