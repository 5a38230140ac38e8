//! The statements of a file about itself: the keys at the top of its frontmatter, or of a YAML file, and its
//! markup.

use super::{CatalogueFile, EntryProblem, EntryProblemKind};
use stepmark_frontmatter::{Document, Frontmatter, Node, NodeKind, Scalar, Span, Yaml};

/// The scalars at the top of a map: a key that stands twice has its first value.
#[derive(Debug, Default)]
pub(super) struct Keys(Vec<(String, KeyValue)>);

#[derive(Debug)]
struct KeyValue {
    text: String,
    is_string: bool,
    is_false: bool,
}

impl Keys {
    /// The frontmatter at the start of the file; `None` where there is none. Lists and maps are left out.
    pub(super) fn of_frontmatter(source: &CatalogueFile<'_>) -> Result<Option<Self>, EntryProblem> {
        let document = Document::scan(source.bytes);
        match document.frontmatter() {
            Frontmatter::Absent => Ok(None),
            Frontmatter::Present { content, .. } => Self::read(source, content).map(Some),
            Frontmatter::Unclosed { .. } => Err(EntryProblem {
                path: source.path.clone(),
                line: Some(1),
                kind: EntryProblemKind::Unclosed,
            }),
        }
    }

    pub(super) fn of_yaml(source: &CatalogueFile<'_>) -> Result<Self, EntryProblem> {
        Self::read(source, Span::new(0, source.bytes.len()))
    }

    fn read(source: &CatalogueFile<'_>, span: Span) -> Result<Self, EntryProblem> {
        let yaml = Yaml::parse(source.bytes, span).map_err(|error| EntryProblem {
            path: source.path.clone(),
            line: Some(Document::scan(source.bytes).position(error.offset()).line),
            kind: EntryProblemKind::Frontmatter(error),
        })?;
        let entries = yaml.root().map(Node::entries).unwrap_or_default();
        let keys = entries.iter().filter_map(|entry| {
            let value = match entry.value.kind {
                NodeKind::Alias { .. } => yaml.target(&entry.value)?,
                _ => &entry.value,
            };
            let (scalar, text) = (value.scalar()?, value.text()?.to_owned());
            let is_false = scalar == Scalar::Bool(false) || text == "false";
            let is_string = matches!(scalar, Scalar::String(_));
            let key = entry.key.as_key()?.to_owned();
            (scalar != Scalar::Null).then_some((key, KeyValue { text, is_string, is_false }))
        });
        Ok(Self(keys.collect()))
    }

    /// The text of a scalar, as written, that is not empty.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).map(|value| value.text.as_str()).filter(|text| !text.is_empty())
    }

    /// The text of a scalar that is a string and not empty: no number, date or truth value.
    pub(super) fn string(&self, key: &str) -> Option<&str> {
        self.get(key)
            .filter(|value| value.is_string && !value.text.is_empty())
            .map(|value| value.text.as_str())
    }

    pub(super) fn is_false(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.is_false)
    }

    fn get(&self, key: &str) -> Option<&KeyValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

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
