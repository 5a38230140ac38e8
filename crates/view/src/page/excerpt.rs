//! So much of a text as a page shows.

use std::borrow::Cow;

/// 1024 bytes.
pub(super) const KIB: usize = 1024;

/// The most bytes that are shown: more than anybody reads, and little enough to be drawn while others wait.
const MOST: usize = 1024 * KIB;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excerpt<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) shown: usize,
    pub(super) all: usize,
}

impl<'t> Excerpt<'t> {
    /// The beginning of `bytes`: whole lines where there are any.
    pub(super) fn of(bytes: &'t [u8]) -> Self {
        Self::up_to(bytes, MOST)
    }

    fn up_to(bytes: &'t [u8], most: usize) -> Self {
        let (text, all) = (|shown| String::from_utf8_lossy(&bytes[..shown]), bytes.len());
        if all <= most {
            return Self { text: text(all), shown: all, all };
        }
        let last_line = bytes[..most].iter().rposition(|byte| *byte == b'\n').map(|end| end + 1);
        let shown = last_line.unwrap_or_else(|| {
            // A character has at most four bytes, all of which but the first begin with 10.
            let begins_character = |place: &usize| bytes[*place] & 0xC0 != 0x80;
            (most.saturating_sub(3)..=most).rev().find(begins_character).unwrap_or(most)
        });
        Self { text: text(shown), shown, all }
    }
}

#[cfg(test)]
mod tests {
    use super::Excerpt;

    #[test]
    fn it_ends_with_a_line_or_else_with_a_character() {
        for (text, most, shown) in [
            ("", 4, ""),
            ("abcd", 4, "abcd"),
            ("abcde", 4, "abcd"),
            ("ab\ncd", 4, "ab\n"),
            ("abc\nd", 4, "abc\n"),
            ("abcdé", 5, "abcd"),
            ("a😀b", 4, "a"),
            ("a😀b", 5, "a😀"),
        ] {
            let excerpt = Excerpt::up_to(text.as_bytes(), most);
            assert_eq!(
                (&*excerpt.text, excerpt.shown, excerpt.all),
                (shown, shown.len(), text.len()),
                "{text}"
            );
        }
        assert_eq!(Excerpt::up_to(&[0x80; 9], 4).shown, 4, "what is no text is shown, too");
    }
}
