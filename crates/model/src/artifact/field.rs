//! A value of the frontmatter together with where it stands and how it is written.

use std::fmt;
use stepmark_frontmatter::{Node, NodeKind, Scalar, ScalarStyle, Span, Value, Yaml};

/// A scalar as it is written in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub key: String,
    /// The text after unquoting; for a plain number its source, so `1.10` stays `1.10`.
    pub text: String,
    pub kind: FieldKind,
    pub span: Span,
}

/// The type that a YAML reader gives a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    Text,
    Integer,
    /// A number that is no integer: `1.10` is read as `1.1`.
    Decimal,
    /// `true` or `false`.
    Bool,
    /// Empty, `~`, `null`.
    Null,
}

impl Field {
    /// Reads a scalar; `None` for a collection.
    pub(super) fn read(key: &str, node: &Node<'_>) -> Option<Self> {
        let text = node.text()?.to_owned();
        Some(Self { key: key.to_owned(), text, kind: FieldKind::of(node), span: node.span })
    }

    /// The text of a value that is not null.
    pub fn filled(&self) -> Option<&str> {
        (self.kind != FieldKind::Null && !self.text.is_empty()).then_some(&*self.text)
    }

    /// The value that an edit would write to say the same.
    pub fn value(&self) -> Value {
        match self.kind {
            FieldKind::Text => Value::String(self.text.clone()),
            _ => Value::from(Scalar::resolve(&self.text)),
        }
    }
}

impl FieldKind {
    pub(super) fn of(node: &Node<'_>) -> Self {
        match node.scalar() {
            Some(Scalar::Integer(_)) => Self::Integer,
            Some(Scalar::Float(_) | Scalar::Number(_)) => Self::Decimal,
            Some(Scalar::Bool(_)) => Self::Bool,
            Some(Scalar::Null) => Self::Null,
            Some(Scalar::String(_)) | None => Self::Text,
        }
    }
}

pub(super) fn followed<'t, 'a>(yaml: &'t Yaml<'a>, node: &'t Node<'a>) -> &'t Node<'a> {
    match node.kind {
        NodeKind::Alias { .. } => yaml.target(node).unwrap_or(node),
        _ => node,
    }
}

/// Returns whether a scalar is written without quotes.
pub(super) fn is_plain(node: &Node<'_>) -> bool {
    matches!(node.kind, NodeKind::Scalar { style: ScalarStyle::Plain, .. })
}

/// The keys that say when something happened. They do not count as state: a state digest leaves them out at
/// any depth (docs/design.md, "Digests").
pub const TIME_KEYS: [&str; 24] = [
    "created",
    "created_at",
    "createdAt",
    "updated",
    "updated_at",
    "updatedAt",
    "date",
    "completed_at",
    "completedAt",
    "claimed_at",
    "generated",
    "lastEdited",
    "lastModified",
    "lastSaved",
    "lastUpdated",
    "last_activity",
    "last_execution",
    "last_modified",
    "last_saved",
    "last_updated",
    "modified",
    "rollback_timestamp",
    "timestamp",
    "validationDate",
];

pub fn is_time_key(key: &str) -> bool {
    TIME_KEYS.contains(&key)
}

/// A time as it is written; nothing is parsed here, since templates and free text stand in these keys too.
pub type Timestamp = Field;

/// The scope that a person or an AI gave to the work. An unknown word is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    Micro,
    Small,
    Medium,
    Large,
    Epic,
    /// Any other text; other programs use the key for sentences (docs/formats.md).
    Unknown(String),
}

impl Scope {
    /// Reads the word, whatever its case.
    pub fn read(text: &str) -> Self {
        match text.to_ascii_lowercase().as_str() {
            "micro" => Self::Micro,
            "small" => Self::Small,
            "medium" => Self::Medium,
            "large" => Self::Large,
            "epic" => Self::Epic,
            _ => Self::Unknown(text.to_owned()),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Micro => "micro",
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
            Self::Epic => "epic",
            Self::Unknown(text) => text,
        })
    }
}
