//! The highest value of a counter.

use std::{fmt, str::FromStr};

use super::RootKeys;
use crate::artifact::parsed_scalar::{deserialize_as_scalar, schema_of_scalar};

/// The highest value of a counter: a number, or the frontmatter key that holds it, so that a person may raise
/// it for one artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CounterLimit {
    /// This number.
    Number(u64),
    /// The number under this key; without one there is no limit.
    Key(String),
}

impl CounterLimit {
    /// The number, for an artifact with these keys.
    ///
    /// # Errors
    /// The key and the text under it, where that is no number.
    pub fn value<'k>(&'k self, keys: &'k RootKeys) -> Result<Option<u64>, (&'k str, &'k str)> {
        match self {
            Self::Number(number) => Ok(Some(*number)),
            Self::Key(key) => {
                let number = |text: &'k str| text.trim().parse().map_err(|_| (key.as_str(), text));
                keys.text(key).map(number).transpose()
            }
        }
    }
}

impl fmt::Display for CounterLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(out, "{number}"),
            Self::Key(key) => write!(out, "`{key}`"),
        }
    }
}

impl FromStr for CounterLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let is_key = |text: &str| text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
        match text.parse() {
            Ok(number) => Ok(Self::Number(number)),
            Err(_) if is_key(text) => Ok(Self::Key(text.to_owned())),
            Err(_) => Err(format!("`{text}` is no limit: a whole number, or a frontmatter key, is wanted")),
        }
    }
}

deserialize_as_scalar!(CounterLimit);
schema_of_scalar!(CounterLimit, {
    "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": r"^\s*([0-9]+\s*$|[^\W\d]|_)"}]
});
