//! Tables for people: one line a row, however wide, so that lines can be searched and cut.

use super::{on_one_line, width};

/// Between columns.
const GAP: usize = 2;

/// A table with a header and no frame.
pub(crate) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let header: Vec<String> = header.iter().map(|cell| (*cell).to_owned()).collect();
    let rows = rows.into_iter().map(|row| row.iter().map(|cell| on_one_line(cell)).collect());
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let mut widths = vec![0; columns];
    for row in &rows {
        for (wide, cell) in widths.iter_mut().zip(row) {
            *wide = width(cell).max(*wide);
        }
    }
    let mut text = String::new();
    for (place, row) in rows.iter().enumerate() {
        text.push_str(if place == 0 { "" } else { "\n" });
        for (cell, wide) in row.iter().zip(&widths) {
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', wide + GAP - width(cell)));
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
