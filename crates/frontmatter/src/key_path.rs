//! The address of a value inside a region.

use std::{convert::Infallible, fmt, str::FromStr};

/// One step of a [`KeyPath`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(untagged))]
pub enum Segment {
    /// The entry of a mapping.
    Key(String),
    /// The item of a sequence, from 0.
    Index(usize),
}

/// The way from the root of a region to a value. Shown and read as `delegation.id`, `slices[0].status`, or as
/// a JSON pointer (RFC 6901) where it starts with `/`, for keys that hold dots or brackets. In JSON it is a
/// list of keys and places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KeyPath(pub Vec<Segment>);

impl KeyPath {
    /// One key of the root mapping, taken as it is: a dot in it belongs to its name. A path as people write
    /// it is parsed: `"delegation.id".parse()`.
    pub fn key(key: impl Into<String>) -> Self {
        Self(vec![Segment::Key(key.into())])
    }

    /// The same path one item further.
    #[must_use]
    pub fn item(mut self, index: usize) -> Self {
        self.0.push(Segment::Index(index));
        self
    }

    /// The same path one key further.
    #[must_use]
    pub fn then(mut self, key: impl Into<String>) -> Self {
        self.0.push(Segment::Key(key.into()));
        self
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let needs_pointer =
            |segment: &Segment| matches!(segment, Segment::Key(key) if key.contains(['.', '[', '/']));
        if self.0.iter().any(needs_pointer) {
            for segment in &self.0 {
                match segment {
                    Segment::Key(key) => write!(out, "/{}", key.replace('~', "~0").replace('/', "~1"))?,
                    Segment::Index(index) => write!(out, "/{index}")?,
                }
            }
            return Ok(());
        }
        for (place, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if place == 0 => write!(out, "{key}")?,
                Segment::Key(key) => write!(out, ".{key}")?,
                Segment::Index(index) => write!(out, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A text that is no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no path to a value: write `key`, `key.key`, `key[0]`, or a JSON pointer such as `/key/0`"
)]
pub struct KeyPathError {
    /// The text that was given.
    pub text: String,
}

impl TryFrom<&str> for KeyPath {
    type Error = KeyPathError;

    /// Reads a path as people write it.
    fn try_from(text: &str) -> Result<Self, KeyPathError> {
        text.parse()
    }
}

impl From<Infallible> for KeyPathError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl FromStr for KeyPath {
    type Err = KeyPathError;

    fn from_str(text: &str) -> Result<Self, KeyPathError> {
        let wrong = || KeyPathError { text: text.to_owned() };
        let mut segments = Vec::new();
        if let Some(pointer) = text.strip_prefix('/') {
            for part in pointer.split('/') {
                let index = part.parse().ok().filter(|_| part == "0" || !part.starts_with(['0', '+']));
                segments.push(match index {
                    Some(index) => Segment::Index(index),
                    None => Segment::Key(part.replace("~1", "/").replace("~0", "~")),
                });
            }
            return Ok(Self(segments));
        }
        for part in text.split('.') {
            let (key, indices) = part.find('[').map_or((part, ""), |open| part.split_at(open));
            if key.is_empty() {
                return Err(wrong());
            }
            segments.push(Segment::Key(key.to_owned()));
            for index in indices.split_inclusive(']') {
                let digits = index.strip_prefix('[').and_then(|index| index.strip_suffix(']'));
                segments
                    .push(Segment::Index(digits.and_then(|digits| digits.parse().ok()).ok_or_else(wrong)?));
            }
        }
        Ok(Self(segments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_parts_keys_where_a_text_is_read_and_belongs_to_a_key_that_is_named() {
        assert_eq!("a.b".parse::<KeyPath>().unwrap(), KeyPath::key("a").then("b"));
        assert_eq!(KeyPath::try_from("a.b").unwrap(), "a.b".parse().unwrap());
        assert_eq!("/a.b".parse::<KeyPath>().unwrap(), KeyPath::key("a.b"));
        assert_eq!(KeyPath::key("a.b").to_string(), "/a.b");
    }

    #[test]
    fn reads_and_shows() {
        for text in ["status", "delegation.id", "slices[0].status", "a[1][2]", "/a.b/0", "/a~1b"] {
            assert_eq!(text.parse::<KeyPath>().unwrap().to_string(), text);
        }
        for text in ["", "a..b", ".a", "a[x]", "a[0", "a]"] {
            assert!(text == "a]" || text.parse::<KeyPath>().is_err(), "{text}");
        }
    }
}
