//! Text as the catalogues hold it: on one line.

/// Blanks at both ends cut off, and any run of them made one space, as the official installer does: blank is what JavaScript's
/// `\s` matches (ECMA-262 §22.2.2.9), which has U+FEFF and has no U+0085.
pub(super) fn on_one_line(text: &str) -> String {
    let words = text.split(is_blank).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn is_blank(character: char) -> bool {
    match character {
        '\u{FEFF}' => true,
        '\u{85}' => false,
        other => other.is_whitespace(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The right column was computed by Node 20 with `trim()` and `replaceAll(/\s+/g, ' ')`.
    #[test]
    fn blanks_are_those_of_javascript() {
        for (text, expected) in [
            ("", ""),
            ("  ", ""),
            (" a\r\n  b\t", "a b"),
            ("a\u{A0}\u{2028}\u{3000}b", "a b"),
            ("\u{FEFF}a\u{FEFF}", "a"),
            ("a\u{85}b", "a\u{85}b"),
            ("a\u{200B}b", "a\u{200B}b"),
            ("a\u{B}\u{C}b", "a b"),
        ] {
            assert_eq!(on_one_line(text), expected, "{text:?}");
        }
    }
}
