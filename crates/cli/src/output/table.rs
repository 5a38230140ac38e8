//! Tables for people, one line per row. Cut to the width of a terminal; elsewhere whole, for searching and
//! cutting.

use std::{
    io::{self, IsTerminal},
    ops::Range,
};

use ratatui::crossterm::terminal;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::on_one_line;
use stepmark_store::disk::par_map;

const GAP: usize = 2;

/// Minimum width of a cut column: of paths, and others.
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
    // Several parts per processor. Allocating many small texts would be slow.
    let parts: Vec<&[T]> = rows.chunks(rows.len().div_ceil(PARTS).max(1)).collect();
    let mut lines = vec![Lines::of([header])];
    lines.extend(par_map(&parts, |part| Lines::of(part.iter().map(&cells))));
    lay_out(&lines, line_width())
}

const PARTS: usize = 256;

#[derive(Default)]
struct Lines {
    text: String,
    /// Range in the text, and width.
    cells: Vec<(Range<usize>, usize)>,
    /// Number of cells up to each line's end.
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

pub(crate) fn width(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    if text.contains('\u{1b}') {
        return anstream::adapter::strip_str(text).map(UnicodeWidthStr::width).sum();
    }
    text.width()
}

pub(super) fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// A cut end becomes `…`.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut room = columns.saturating_sub(1);
    let fits = |character: &char| match room.checked_sub(character.width().unwrap_or_default()) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

/// Cuts paths at the start, so that the file name stays.
pub(crate) fn fitted_cell(text: &str, columns: usize) -> String {
    let Some((branch, path)) = path_in(text).filter(|_| width(text) > columns) else {
        return fitted(text, columns);
    };
    let room = columns.saturating_sub(width(branch) + 1);
    let end = path.char_indices().map(|(place, _)| &path[place..]).find(|end| width(end) <= room);
    fitted(&format!("{branch}…{}", end.unwrap_or_default()), columns)
}

pub(super) fn path_in(cell: &str) -> Option<(&str, &str)> {
    let start = cell.find(|character| !TREE.contains(character)).unwrap_or_default();
    let (branch, path) = cell.split_at(start);
    (path.contains('/') && !path.contains(' ')).then_some((branch, path))
}

const TREE: &str = " │├└─";

/// For terminals of unknown width.
const USUAL: usize = 80;

/// Of stdout; unlimited for programs that read lines.
pub(crate) fn line_width() -> usize {
    width_of(&io::stdout())
}

pub(super) fn error_width() -> usize {
    width_of(&io::stderr())
}

fn width_of(stream: &impl IsTerminal) -> usize {
    if !stream.is_terminal() {
        return usize::MAX;
    }
    let columns = terminal::size().ok().map(|(columns, _)| usize::from(columns));
    columns.filter(|columns| *columns > 0).unwrap_or(USUAL)
}

/// Wraps at words; later lines are indented. Long words stay whole, and so does text in backquotes: commands
/// are copied.
pub(crate) fn folded(line: &str, columns: usize) -> String {
    if columns == usize::MAX || width(line) <= columns {
        return line.to_owned();
    }
    let own_indent = line.len() - line.trim_start().len();
    let indent = " ".repeat(own_indent + 2);
    let (mut text, mut used) = (String::new(), 0);
    for word in words(line) {
        if used > own_indent && used + width(word.trim_end()) > columns {
            text.truncate(text.trim_end().len());
            text = text + "\n" + &indent;
            used = indent.len();
        }
        text.push_str(word);
        used += width(word);
    }
    text
}

/// With the space after each. A span in backquotes is one word, if it is closed.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let mut is_quoted = false;
        let end = rest.char_indices().find(|(place, character)| {
            match character {
                '`' => is_quoted = !is_quoted && rest[place + 1..].contains('`'),
                ' ' if !is_quoted => return true,
                _ => {}
            }
            false
        });
        let (word, left) = rest.split_at(end.map_or(rest.len(), |(place, _)| place + 1));
        rest = left;
        (!word.is_empty()).then_some(word)
    })
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

    #[test]
    fn what_is_too_long_is_broken_between_words() {
        for (text, columns, expected) in [
            ("one two three", 13, "one two three"),
            ("one two three", 8, "one two\n  three"),
            ("  one two three", 9, "  one two\n    three"),
            ("because  a/very/long/path and more", 12, "because\n  a/very/long/path\n  and more"),
            ("run `a b c d` now", 8, "run\n  `a b c d`\n  now"),
            ("an ` alone is broken", 8, "an `\n  alone\n  is\n  broken"),
            ("\u{1b}[1mone\u{1b}[0m two", 7, "\u{1b}[1mone\u{1b}[0m two"),
        ] {
            assert_eq!(folded(text, columns), expected, "{text} {columns}");
        }
    }

    #[test]
    fn a_path_is_cut_at_its_beginning() {
        for (text, columns, expected) in [
            ("docs/prd.md", 11, "docs/prd.md"),
            ("docs/prd.md", 8, "…/prd.md"),
            ("└─ docs/prd.md", 10, "└─ …prd.md"),
            ("one/two three", 6, "one/t…"),
            ("└─ docs/prd.md", 2, "└…"),
        ] {
            assert_eq!(fitted_cell(text, columns), expected, "{text} {columns}");
        }
    }

    #[test]
    fn what_is_too_long_is_cut() {
        for (text, columns, expected) in [
            ("", 3, ""),
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("ab cd", 4, "ab…"),
            ("漢字漢", 5, "漢字…"),
            ("漢字漢", 4, "漢…"),
        ] {
            assert_eq!(fitted(text, columns), expected, "{text} {columns}");
        }
    }
}
