//! The size of the work.

use std::fmt;

/// The scope that a person or an AI gave to the work. An unknown word is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `micro`
    Micro,
    /// `small`
    Small,
    /// `medium`
    Medium,
    /// `large`
    Large,
    /// `epic`
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
