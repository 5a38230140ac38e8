//! Text in columns of a terminal.

use std::io::{self, IsTerminal};

use ratatui::crossterm::terminal;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The number of columns that `text` takes, without its styles.
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

/// `text` in at most `columns` columns: what is cut off its end is `…`.
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

/// The same, where what is cut off a path is its beginning, so that it still says which file it is.
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

/// The width of a terminal that does not tell its own.
const USUAL: usize = 80;

/// The most columns that a line of stdout may take: those of the terminal; elsewhere any number, for programs
/// that read lines.
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

/// `line` broken between words into lines of at most `columns` columns, the later ones indented. A longer
/// word stays whole, and so does what stands in backquotes: a command is copied.
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

/// The words of a line, each with the space behind it. A span in backquotes is one; one that is not closed is
/// words.
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
