//! Markup of agents and tasks of 6.0.4, found as the official installer finds it: by the first text of a form
//! anywhere in the file. That is no XML reader, and must be none: the files are Markdown around a piece of
//! XML, with bare `&` and `<`.

/// The value of the first attribute `name="…"` that is not empty, wherever it stands.
pub(super) fn attribute<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let start = format!("{name}=\"");
    text.match_indices(&start).find_map(|(at, _)| {
        let value = &text[at + start.len()..];
        value.split_once('"').map(|(value, _)| value).filter(|value| !value.is_empty())
    })
}

/// The text between the first `<name>` and the `</name>` that follows; it may hold other elements.
pub(super) fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, content) = text.split_once(&format!("<{name}>"))?;
    content.split_once(&format!("</{name}>")).map(|(content, _)| content)
}

/// The content of the first element called `name` that has text and nothing else.
pub(super) fn plain_element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    text.match_indices(&start).find_map(|(at, _)| {
        let content = &text[at + start.len()..];
        let length = content.find('<')?;
        (length > 0 && content[length..].starts_with(&end)).then(|| &content[..length])
    })
}

/// Returns whether any tag that begins with `<name` holds `text`, not directly behind its name.
pub(super) fn tag_holds(markup: &str, name: &str, text: &str) -> bool {
    let start = format!("<{name}");
    markup.match_indices(&start).any(|(at, _)| {
        let tag = &markup[at + start.len()..];
        let tag = tag.find('>').map_or(tag, |end| &tag[..end]);
        tag.char_indices().nth(1).is_some_and(|(second, _)| tag[second..].contains(text))
    })
}

/// Blanks at both ends cut off, and any run of them made one space, as the official installer does: blank is
/// what JavaScript's `\s` matches (ECMA-262 §22.2.2.9), which has U+FEFF and has no U+0085.
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

    #[test]
    fn finds_what_the_installers_patterns_match() {
        let text = "<agent id=\"x\" name=\"\" name=\"Ada\">\n<role>a <b>no</b></role>\n<role>Keeper & guide</role>\n\
                    <identity>one <i>two</i>\nthree</identity> <identity>other</identity>";
        assert_eq!(attribute(text, "name"), Some("Ada"));
        assert_eq!(attribute(text, "title"), None);
        assert_eq!(attribute("name=\"open", "name"), None);
        assert_eq!(element(text, "identity"), Some("one <i>two</i>\nthree"));
        assert_eq!(element(text, "principles"), None);
        assert_eq!(plain_element(text, "role"), Some("Keeper & guide"));
        assert_eq!(plain_element("<role></role>", "role"), None);
    }

    #[test]
    fn a_tag_ends_at_its_bracket() {
        let says = |text| tag_holds(text, "task", "standalone=\"false\"");
        assert!(says("<task id=\"x\"\n standalone=\"false\">"));
        assert!(says("<task>\n<task standalone=\"false\""));
        assert!(!says("<task id=\"x\"> standalone=\"false\""));
        assert!(!says("<taskstandalone=\"false\">"), "a tag of another name");
        assert!(!says("<task"));
    }

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
