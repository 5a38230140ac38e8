//! Text of a file, as it may be shown: no character of it steers a terminal, or hides in a page.

/// The character that stands for a control character: its picture where there is one.
fn picture(control: char) -> char {
    match control {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(control)).unwrap_or('\u{FFFD}'),
        _ => '\u{FFFD}',
    }
}

/// `text` with a picture in place of every control character but line feed and tab.
pub fn visible(text: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\n' && c != '\t' { picture(c) } else { c };
    text.chars().map(shown).collect()
}

/// `text` on one line: as [`visible`], and line feeds and tabs have pictures too.
pub fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { picture(c) } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_become_pictures() {
        for (text, shown, line) in [
            ("déjà 🦀", "déjà 🦀", "déjà 🦀"),
            ("a\u{1b}[31mb", "a␛[31mb", "a␛[31mb"),
            ("a\nb\tc\r", "a\nb\tc␍", "a␊b␉c␍"),
            ("\u{7f}\u{85}\u{9b}2J\0", "\u{FFFD}\u{FFFD}\u{FFFD}2J␀", "\u{FFFD}\u{FFFD}\u{FFFD}2J␀"),
        ] {
            assert_eq!((visible(text).as_str(), on_one_line(text).as_str()), (shown, line), "{text:?}");
        }
    }
}
