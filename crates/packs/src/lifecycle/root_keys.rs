//! The keys of a frontmatter as lifecycles look at them.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use stepmark_frontmatter::{Node, NodeKind, Yaml};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootKeys(BTreeMap<String, RootKey>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct RootKey {
    /// The text of a scalar that is not null.
    text: Option<String>,
    is_filled: bool,
}

impl RootKeys {
    /// The keys of `artifact`; none where its frontmatter cannot be read. Of a key that stands twice the
    /// first counts.
    pub fn of(yaml: &Yaml<'_>) -> Self {
        let mut keys = BTreeMap::new();
        for entry in yaml.root().map(Node::entries).unwrap_or_default() {
            let Some(key) = entry.key.as_key() else { continue };
            let value = yaml.target(&entry.value).unwrap_or(&entry.value);
            keys.entry(key.to_owned()).or_insert_with(|| RootKey::read(value));
        }
        Self(keys)
    }

    /// Returns whether the key stands in the frontmatter, with or without a value.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Returns whether something stands under the key: a text that is not empty, or a list or mapping that is
    /// not.
    pub fn is_filled(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|value| value.is_filled)
    }

    /// The text under the key; `None` for nothing, a list and a mapping.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.text.as_deref().filter(|text| !text.is_empty())
    }
}

impl RootKey {
    fn read(node: &Node<'_>) -> Self {
        let is_filled = match &node.kind {
            NodeKind::Mapping { entries, .. } => !entries.is_empty(),
            NodeKind::Sequence { items, .. } => !items.is_empty(),
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => !node.is_null(),
        };
        let text = node.text().filter(|_| !node.is_null()).map(str::to_owned);
        Self { is_filled: is_filled && text.as_deref() != Some(""), text }
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for RootKeys {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let key = |(key, text): (K, V)| {
            let text = text.into();
            (key.into(), RootKey { is_filled: !text.is_empty(), text: Some(text) })
        };
        Self(entries.into_iter().map(key).collect())
    }
}

impl From<&Json> for RootKeys {
    fn from(state: &Json) -> Self {
        let key = |(key, value): (&String, &Json)| {
            let text = match value {
                Json::String(text) => Some(text.clone()),
                Json::Number(_) | Json::Bool(_) => Some(value.to_string()),
                Json::Null | Json::Array(_) | Json::Object(_) => None,
            };
            let is_filled = match value {
                Json::Array(items) => !items.is_empty(),
                Json::Object(entries) => !entries.is_empty(),
                _ => text.as_deref().is_some_and(|text| !text.is_empty()),
            };
            (key.clone(), RootKey { text, is_filled })
        };
        Self(state.as_object().into_iter().flatten().map(key).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_what_is_there_and_what_says_something() {
        let file = "a: x\nb: ''\nc:\nd: []\ne: [1]\nf: 0\ng: null\n";
        let keys = RootKeys::of(
            &Yaml::parse(file.as_bytes(), stepmark_frontmatter::Span::from(0..file.len())).unwrap(),
        );
        let told = |key| (keys.has(key), keys.is_filled(key), keys.text(key));
        assert_eq!(told("a"), (true, true, Some("x")));
        assert_eq!(told("e"), (true, true, None));
        assert_eq!(told("f"), (true, true, Some("0")));
        for key in ["b", "c", "d", "g"] {
            assert_eq!(told(key), (true, false, None), "{key}");
        }
        assert_eq!(told("h"), (false, false, None));
    }
}
