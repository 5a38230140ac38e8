//! Tables for people: one line a row, however wide, so that lines can be searched and cut.

use comfy_table::{ContentArrangement, Table, presets};

use super::on_one_line;

/// A table with a header and no frame.
pub(crate) fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.to_vec());
    for row in rows {
        table.add_row(row.iter().map(|cell| on_one_line(cell)));
    }
    let text = table.to_string();
    text.lines()
        .map(|line| line.trim_end().strip_prefix(' ').unwrap_or(line.trim_end()))
        .collect::<Vec<_>>()
        .join("\n")
}

/// `███░░ 3/5`
pub(crate) fn bar(done: usize, total: usize) -> String {
    const WIDTH: usize = 10;
    let filled = if total == 0 { 0 } else { (done * WIDTH).div_ceil(total).min(WIDTH) };
    // Only a finished workflow has a full bar.
    let filled = if done < total { filled.min(WIDTH - 1) } else { filled };
    format!("{}{} {done}/{total}", "█".repeat(filled), "░".repeat(WIDTH - filled))
}
