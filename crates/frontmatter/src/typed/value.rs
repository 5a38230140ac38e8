//! [`Value`] as a type that `serde` reads and writes.

use crate::{KeyPath, ParseError, Position, RegionError, Segment, Value};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
    ser::{SerializeMap, SerializeSeq},
};

/// A number that 64 bits do not hold is written as its text.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Number(text) | Self::String(text) => serializer.serialize_str(text),
            Self::Sequence(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Mapping(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a YAML value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or_else(|_| Value::Number(value.to_string()), Value::Integer))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Value, E> {
        Ok(Value::Number(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(match value {
            f64::INFINITY => Value::Number(".inf".to_owned()),
            f64::NEG_INFINITY => Value::Number("-.inf".to_owned()),
            _ if value.is_nan() => Value::Number(".nan".to_owned()),
            _ => Value::Float(value),
        })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Value::Sequence(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Mapping(entries))
    }
}

/// An error of reading a region into a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no such region.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// The region is not YAML.
    #[error("at {position}: {source}")]
    Parse {
        /// The position in the file.
        position: Position,
        /// The error of the parser.
        source: ParseError,
    },
    /// The region holds several YAML documents.
    #[error("{count} YAML documents stand where one is read")]
    SeveralDocuments {
        /// The number.
        count: usize,
    },
    /// A key stands twice in its map, and readers disagree on which counts.
    #[error("the key `{key}` stands twice, again at {position}")]
    KeyTwice {
        /// The key.
        key: String,
        /// The position of its second occurrence in the file.
        position: Position,
    },
    /// A value does not fit the type.
    #[error("{}: {message}", Place(key, *position))]
    Value {
        /// The path of the value; empty for the region as a whole.
        key: KeyPath,
        /// Its position in the file.
        position: Position,
        /// The expected type.
        message: String,
    },
}

struct Place<'e>(&'e KeyPath, Position);

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.0.is_empty() {
            true => write!(out, "at {}", self.1),
            false => write!(out, "`{}` at {}", self.0, self.1),
        }
    }
}

/// An error of `serde`, and its position.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) message: String,
    /// The byte of the file.
    pub(super) offset: Option<usize>,
    /// The path from the value up to the root.
    up: Vec<Segment>,
}

impl Wrong {
    /// Keeps the innermost place.
    pub(super) fn at(mut self, offset: usize) -> Self {
        self.offset.get_or_insert(offset);
        self
    }

    pub(super) fn below(mut self, segment: Segment) -> Self {
        self.up.push(segment);
        self
    }

    pub(super) fn path(&self) -> KeyPath {
        KeyPath(self.up.iter().rev().cloned().collect())
    }
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Wrong {}

impl serde::de::Error for Wrong {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), offset: None, up: Vec::new() }
    }
}
