//! A value apart from any file: what an edit writes, and what a region says.

use super::{LIMITS, Node, NodeKind, Scalar, Yaml};

/// A YAML value without spelling. Numbers that Rust cannot hold exactly stay text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits.
    Integer(i64),
    /// A finite number with a fraction.
    Float(f64),
    /// A number as written: an integer beyond 64 bits, a float that is not finite, or one that is to keep its
    /// spelling.
    Number(String),
    /// Text.
    String(String),
    /// A list.
    Sequence(Vec<Value>),
    /// A map in order; duplicate keys are kept.
    Mapping(Vec<(Value, Value)>),
}

/// A reason why a region has no value: its aliases lead to more nodes than a reader should build, or to
/// nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// Following the aliases gives more than [`Limits::nodes`](super::Limits::nodes) nodes, or never ends.
    #[error("following the aliases gives more than the limit of {limit} nodes")]
    TooManyNodes {
        /// The limit.
        limit: usize,
        /// The offset of the alias that passes it.
        offset: usize,
    },
    /// No anchor of that name stands before the alias.
    #[error("the alias `*{name}` has no anchor")]
    NoAnchor {
        /// The name after the `*`.
        name: String,
        /// The offset of the alias.
        offset: usize,
    },
}

impl ValueError {
    /// The byte of the region that the error is about.
    pub const fn offset(&self) -> usize {
        match self {
            Self::TooManyNodes { offset, .. } | Self::NoAnchor { offset, .. } => *offset,
        }
    }
}

impl Value {
    /// The value of `node` of `yaml`, aliases followed within the limits.
    ///
    /// # Errors
    /// When an alias has no anchor, or following aliases passes the node limit.
    pub fn of(yaml: &Yaml<'_>, node: &Node<'_>) -> Result<Self, ValueError> {
        Reader { yaml, nodes: 0, alias: None }.value(node, 0)
    }

    /// A map from text keys.
    pub fn mapping<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Self {
        Self::Mapping(entries.into_iter().map(|(key, value)| (Self::String(key.into()), value)).collect())
    }

    /// The value as JSON for output: numbers beyond JSON's reach and keys that are not text enter as source
    /// text. Of a key that stands twice the first counts, as for [`Node::get`].
    #[cfg(feature = "serde_json")]
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::from(*value),
            Self::Integer(value) => Json::from(*value),
            Self::Float(value) => Json::from(*value),
            Self::Number(text) | Self::String(text) => Json::from(text.as_str()),
            Self::Sequence(items) => items.iter().map(Self::to_json).collect(),
            Self::Mapping(entries) => {
                let mut object = serde_json::Map::with_capacity(entries.len());
                for (key, value) in entries {
                    object.entry(key.to_json_key()).or_insert_with(|| value.to_json());
                }
                Json::Object(object)
            }
        }
    }

    #[cfg(feature = "serde_json")]
    /// The value that [`Value::to_json`] shows as `json`. What JSON could only show as text stays text.
    pub fn from_json(json: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(value), _) => Self::Integer(value),
                (None, Some(value)) if number.is_f64() => Self::Float(value),
                _ => Self::Number(number.to_string()),
            },
            Json::String(text) => Self::from(text.as_str()),
            Json::Array(items) => Self::Sequence(items.iter().map(Self::from_json).collect()),
            Json::Object(map) => Self::mapping(map.iter().map(|(key, value)| (key, Self::from_json(value)))),
        }
    }

    /// The value as the text of a JSON key.
    #[cfg(feature = "serde_json")]
    pub fn to_json_key(&self) -> String {
        match self {
            Self::String(text) | Self::Number(text) => text.clone(),
            other => other.to_json().to_string(),
        }
    }
}

struct Reader<'y, 'a> {
    yaml: &'y Yaml<'a>,
    nodes: usize,
    /// The outermost alias that is being followed.
    alias: Option<usize>,
}

impl Reader<'_, '_> {
    fn value(&mut self, node: &Node<'_>, depth: usize) -> Result<Value, ValueError> {
        self.nodes += 1;
        let offset = node.span.start;
        if self.nodes > LIMITS.nodes || depth > LIMITS.depth {
            let offset = self.alias.unwrap_or(offset);
            return Err(ValueError::TooManyNodes { limit: LIMITS.nodes, offset });
        }
        match &node.kind {
            NodeKind::Scalar { .. } => Ok(node.scalar().map_or(Value::Null, Value::from)),
            NodeKind::Sequence { items, .. } => items
                .iter()
                .map(|item| self.value(item, depth + 1))
                .collect::<Result<_, _>>()
                .map(Value::Sequence),
            NodeKind::Mapping { entries, .. } => entries
                .iter()
                .map(|entry| Ok((self.value(&entry.key, depth + 1)?, self.value(&entry.value, depth + 1)?)))
                .collect::<Result<_, _>>()
                .map(Value::Mapping),
            NodeKind::Alias { name } => {
                let missing = || ValueError::NoAnchor { name: name.to_string(), offset };
                let target = self.yaml.target(node).ok_or_else(missing)?;
                let outer = self.alias;
                self.alias = outer.or(Some(offset));
                let value = self.value(target, depth + 1)?;
                self.alias = outer;
                Ok(value)
            }
        }
    }
}

impl From<Scalar<'_>> for Value {
    fn from(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Integer(value) => Self::Integer(value),
            Scalar::Float(value) => Self::Float(value),
            Scalar::Number(text) => Self::Number(text.to_owned()),
            Scalar::String(text) => Self::String(text.to_owned()),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    fn json(text: &str) -> Result<serde_json::Value, ValueError> {
        let yaml = Yaml::parse(text.as_bytes(), Span::new(0, text.len())).unwrap();
        Value::of(&yaml, yaml.root().unwrap()).map(|value| value.to_json())
    }

    #[test]
    fn reads_values_and_follows_aliases() {
        assert_eq!(
            json("a: &x [1, 02b, '1.10']\nb: *x\n2: 99999999999999999999\n").unwrap(),
            serde_json::json!({"a": [1, "02b", "1.10"], "b": [1, "02b", "1.10"], "2": "99999999999999999999"})
        );
        assert!(matches!(json("glob: *.md\n"), Err(ValueError::NoAnchor { .. })));
    }

    #[test]
    fn tags_of_the_schema_say_the_type() {
        assert_eq!(
            json("a: !!int '3'\nb: !!str 3\nc: !!bool true\nd: !t 3\ne: !<tag:yaml.org,2002:float> 1.5\nf: !!null\n").unwrap(),
            serde_json::json!({"a": 3, "b": "3", "c": true, "d": "3", "e": 1.5, "f": null})
        );
    }

    #[test]
    fn alias_bombs_and_loops_end_with_an_error() {
        let bomb = "a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n\
                    d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e]\n";
        assert!(matches!(json(bomb), Err(ValueError::TooManyNodes { .. })));
        assert!(matches!(json("a: &a [*a]\n"), Err(ValueError::TooManyNodes { offset: 7, .. })));
    }
}
