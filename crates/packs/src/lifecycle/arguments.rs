//! The arguments of moves with their types, and what a move may not be made without.

use std::{fmt, str::FromStr};

use serde_json::Value as Json;

use crate::{deserialize_as_scalar, scalar::Name, schema_of_scalar};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentType {
    pub shape: ArgumentShape,
    /// The shape of each item of a list, where it says so.
    pub items: Option<ArgumentShape>,
    /// The kind of the artifacts that it names.
    pub target: Option<Name>,
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
    /// The name of an artifact: its id, path, file name or number.
    Ref,
}

const SHAPES: [(&str, ArgumentShape); 8] = [
    ("text", ArgumentShape::Text),
    ("int", ArgumentShape::Int),
    ("number", ArgumentShape::Number),
    ("bool", ArgumentShape::Bool),
    ("time", ArgumentShape::Time),
    ("list", ArgumentShape::List),
    ("map", ArgumentShape::Map),
    ("ref", ArgumentShape::Ref),
];

impl FromStr for ArgumentType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, is_optional) = match text.trim().strip_suffix('?') {
            Some(name) => (name.trim(), true),
            None => (text.trim(), false),
        };
        let item = name.strip_prefix("list of ").map(str::trim);
        let (name, target) = match item.unwrap_or(name).split_once(' ') {
            Some(("ref", kind)) => ("ref", kind.parse().ok()),
            _ => (item.unwrap_or(name), None),
        };
        let shape = SHAPES.iter().find(|(own, _)| *own == name).map(|(_, shape)| *shape);
        match shape.filter(|shape| (*shape == ArgumentShape::Ref) == target.is_some()) {
            Some(shape) if item.is_none() => Ok(Self { shape, items: None, target, is_optional }),
            Some(shape) if shape != ArgumentShape::List => {
                Ok(Self { shape: ArgumentShape::List, items: Some(shape), target, is_optional })
            }
            _ => Err(format!(
                "`{text}` is no type: write text, int, number, bool, time, list, map, ref KIND or list of one of \
                 them, with `?` where it may be absent"
            )),
        }
    }
}

impl fmt::Display for ArgumentType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (list, shape) = match self.items {
            Some(shape) => ("list of ", shape),
            None => ("", self.shape),
        };
        write!(out, "{list}{}", shape.name())?;
        self.target.iter().try_for_each(|kind| write!(out, " {}", kind.0))?;
        out.write_str(if self.is_optional { "?" } else { "" })
    }
}

deserialize_as_scalar!(ArgumentType);
schema_of_scalar!(ArgumentType, {"type": "string", "pattern": r"^\s*(list|(list of )?(text|int|number|bool|time|map|ref [A-Za-z][A-Za-z0-9_-]*))\s*\??\s*$"});

impl ArgumentShape {
    pub(super) fn read(self, text: &str) -> Option<Json> {
        match self {
            Self::Text | Self::Ref => Some(text.into()),
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
            Self::Ref => value.is_string() || value.is_u64(),
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
    /// The value that a cell of a table says; a text that is not of this type stays a text.
    pub fn of_cell(&self, text: &str) -> Json {
        let value = |shape: ArgumentShape, text: &str| shape.read(text).unwrap_or_else(|| text.into());
        match self.shape {
            ArgumentShape::List => {
                let items = text.split(';').map(str::trim).filter(|item| !item.is_empty());
                items.map(|item| value(self.items.unwrap_or(ArgumentShape::Text), item)).collect()
            }
            shape => value(shape, text),
        }
    }

    /// The fault of the value under the key `name`, where it is not of this type.
    pub fn fault(&self, name: &str, value: Option<&Json>) -> Option<String> {
        let wanted = Self { is_optional: false, ..self.clone() };
        let holds = |value: &Json| {
            let each =
                |of: ArgumentShape| value.as_array().is_some_and(|all| all.iter().all(|one| of.holds(one)));
            self.shape.holds(value) && self.items.is_none_or(each)
        };
        match value.filter(|value| !value.is_null() && value.as_str() != Some("")) {
            None => (!self.is_optional).then(|| format!("`{name}` says nothing, and {wanted} is wanted")),
            Some(value) => (!holds(value)).then(|| format!("`{name}` is {value}, and {wanted} is wanted")),
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
