//! Text of files made safe to show: no character steers a terminal, hides, or reorders others.

use std::fmt::{Display, Write};

use stepmark_model::summary::NextSteps;

/// Controls of direction (UAX #9), zero-width characters (with the byte order mark), line separators other
/// than line feed, annotations and tags.
const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{AD}'
            | '\u{61C}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E007F}'
    )
}

/// A control picture, or the number `<U+202E>` between `open` and `close`.
fn add_sign(shown: &mut String, character: char, [open, close]: [&str; 2]) {
    match character {
        '\0'..='\u{1f}' => shown.push(char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{FFFD}')),
        '\u{7f}' => shown.push('␡'),
        _ => {
            let _written = write!(shown, "{open}U+{:04X}{close}", u32::from(character));
        }
    }
}

/// Keeps line feeds and tabs.
pub fn visible(text: &str) -> String {
    shown(text, |character| matches!(character, '\n' | '\t'), ["<", ">"])
}

/// For a whole HTML page: tags and attribute names have no such character.
pub(crate) fn visible_in_html(html: &str) -> String {
    shown(html, |character| matches!(character, '\n' | '\t'), ["&lt;", "&gt;"])
}

/// As [`visible`], for line feeds and tabs, too.
pub fn on_one_line(text: &str) -> String {
    shown(text, |_| false, ["<", ">"])
}

fn shown(text: &str, is_kept: impl Fn(char) -> bool, brackets: [&str; 2]) -> String {
    let needs_sign = |character: char| match character {
        ' '..='~' => false,
        _ => (character.is_control() || is_invisible(character)) && !is_kept(character),
    };
    // Fast path: most texts are plain.
    if text
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~') || matches!(byte, b'\n' | b'\t') && is_kept(byte.into()))
    {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    let mut behind = 0;
    for (at, unseen) in text.match_indices(needs_sign) {
        shown.push_str(&text[behind..at]);
        unseen.chars().for_each(|character| add_sign(&mut shown, character, brackets));
        behind = at + unseen.len();
    }
    shown.push_str(&text[behind..]);
    shown
}

pub fn next(next: &NextSteps<'_>) -> String {
    match next {
        NextSteps::Step(..) | NextSteps::Choice(_) => {
            next.steps().iter().map(|step| step.name).collect::<Vec<_>>().join(" | ")
        }
        NextSteps::Finished => "finished".to_owned(),
        NextSteps::Unknown(unknown) => format!("? {unknown}"),
    }
}

pub fn waiting_stories(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some(
            "1 story has no status in its frontmatter and waits for `stepmark import stories`".to_owned(),
        ),
        _ => Some(format!(
            "{count} stories have no status in their frontmatter and wait for `stepmark import stories`"
        )),
    }
}

pub fn count<N: Display + PartialEq + From<u8>>(count: N, word: &str) -> String {
    if count == N::from(1) { format!("1 {word}") } else { format!("{count} {word}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_or_hides_is_made_visible() {
        for (text, shown, line) in [
            ("déjà 🦀", "déjà 🦀", "déjà 🦀"),
            ("a\u{1b}[31mb", "a␛[31mb", "a␛[31mb"),
            ("a\nb\tc\r", "a\nb\tc␍", "a␊b␉c␍"),
            ("\u{7f}\u{85}\u{9b}2J\0", "␡<U+0085><U+009B>2J␀", "␡<U+0085><U+009B>2J␀"),
            ("a\u{202E}dm.b\u{2069}", "a<U+202E>dm.b<U+2069>", "a<U+202E>dm.b<U+2069>"),
            ("do\u{200B}ne\u{FEFF}", "do<U+200B>ne<U+FEFF>", "do<U+200B>ne<U+FEFF>"),
            ("a\u{2028}b\u{E0041}", "a<U+2028>b<U+E0041>", "a<U+2028>b<U+E0041>"),
        ] {
            assert_eq!((visible(text).as_str(), on_one_line(text).as_str()), (shown, line), "{text:?}");
        }
    }

    #[test]
    fn no_character_that_cannot_be_seen_is_left() {
        for character in
            ('\0'..=char::MAX).filter(|character| character.is_control() || is_invisible(*character))
        {
            let line = on_one_line(&character.to_string());
            assert!(line.chars().all(|shown| !shown.is_control() && !is_invisible(shown)), "{character:?}");
        }
        let listed = "\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}\u{2066}\u{2067}\u{2068}\u{2069}\u{200E}\u{200F}\u{61C}\u{200B}\u{200C}\u{200D}\u{2060}\u{FEFF}";
        assert!(listed.chars().all(is_invisible));
    }
}
