//! The keys at the top of a file's frontmatter, or of a YAML file.

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

    /// The whole file, which is YAML.
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

    /// Returns whether the value is `false`, as such or as text.
    pub(super) fn is_false(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.is_false)
    }

    fn get(&self, key: &str) -> Option<&KeyValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}
