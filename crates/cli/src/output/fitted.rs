//! Text in columns of a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many columns `text` takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
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

#[cfg(test)]
mod tests {
    use super::*;

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
