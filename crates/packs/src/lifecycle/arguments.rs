//! The arguments of moves with their types, and what a move may not be made without.

use std::{fmt, str::FromStr};

use serde_json::Value as Json;

use crate::{deserialize_as_scalar, schema_of_scalar};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentType {
    pub shape: ArgumentShape,
    pub is_optional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentShape {
    Text,
    Int,
    Number,
    Bool,
    Time,
    List,
    Map,
}

const SHAPES: [(&str, ArgumentShape); 7] = [
    ("text", ArgumentShape::Text),
    ("int", ArgumentShape::Int),
    ("number", ArgumentShape::Number),
    ("bool", ArgumentShape::Bool),
    ("time", ArgumentShape::Time),
    ("list", ArgumentShape::List),
    ("map", ArgumentShape::Map),
];

impl FromStr for ArgumentType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, is_optional) = match text.trim().strip_suffix('?') {
            Some(name) => (name.trim(), true),
            None => (text.trim(), false),
        };
        let shape = SHAPES.iter().find(|(own, _)| *own == name).map(|(_, shape)| *shape);
        let shape = shape.ok_or_else(|| {
            format!(
                "`{text}` is no type: write text, int, number, bool, time, list or map, with `?` where it may be absent"
            )
        })?;
        Ok(Self { shape, is_optional })
    }
}

impl fmt::Display for ArgumentType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.shape.name(), if self.is_optional { "?" } else { "" })
    }
}

deserialize_as_scalar!(ArgumentType);
schema_of_scalar!(ArgumentType, {"type": "string", "pattern": r"^\s*(text|int|number|bool|time|list|map)\s*\??\s*$"});

impl ArgumentShape {
    pub(super) fn read(self, text: &str) -> Option<Json> {
        match self {
            Self::Text => Some(text.into()),
            Self::Time => is_time(text).then(|| text.into()),
            Self::Int => text.trim().parse::<i64>().ok().map(Json::from),
            Self::Number => {
                text.trim().parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Json::Number)
            }
            Self::Bool => text.trim().parse::<bool>().ok().map(Json::from),
            Self::List => Some(Json::from(vec![text])),
            Self::Map => serde_json::from_str::<Json>(text).ok().filter(Json::is_object),
        }
    }

    fn holds(self, value: &Json) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Int => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Bool => value.is_boolean(),
            Self::Time => value.as_str().is_some_and(is_time),
            Self::List => value.is_array(),
            Self::Map => value.is_object(),
        }
    }

    pub fn name(self) -> &'static str {
        SHAPES.iter().find(|(_, shape)| *shape == self).map_or("", |(name, _)| name)
    }
}

impl ArgumentType {
    /// The fault of the value under the key `name`, where it is not of this type.
    pub fn fault(self, name: &str, value: Option<&Json>) -> Option<String> {
        let wanted = self.shape.name();
        match value.filter(|value| !value.is_null() && value.as_str() != Some("")) {
            None => (!self.is_optional).then(|| format!("`{name}` says nothing, and {wanted} is wanted")),
            Some(value) => {
                (!self.shape.holds(value)).then(|| format!("`{name}` is {value}, and {wanted} is wanted"))
            }
        }
    }
}

fn is_time(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok() || text.parse::<jiff::civil::DateTime>().is_ok()
}

/// Something that a move may not be made without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Reason,
    Evidence,
}

impl Need {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reason => "reason",
            Self::Evidence => "evidence",
        }
    }
}

impl FromStr for Need {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Reason, Self::Evidence];
        let found = all.into_iter().find(|need| need.name() == text.trim());
        found.ok_or_else(|| format!("a move needs `reason` or `evidence`, and `{text}` is neither"))
    }
}

deserialize_as_scalar!(Need);
schema_of_scalar!(Need, {"type": "string", "enum": ["reason", "evidence"]});
