//! Errors of reading frontmatter into a type.

use crate::{KeyPath, ParseError, Position, RegionError, Segment};

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
