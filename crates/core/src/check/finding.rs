//! A finding: data that renderers turn into text, JSON or annotations.

use std::fmt;

use crate::{artifact::ProjectPath, document::Span};

/// Something that is wrong with an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable name of the rule, such as `key-twice`.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence without the place.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The file.
    pub path: ProjectPath,
    /// The bytes of the file that it is about.
    pub span: Span,
}

/// How bad a finding is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// State is lost or unreadable for some reader.
    Error,
    /// State is there, and probably not what was meant.
    Warning,
    /// Worth knowing; never a reason to fail.
    Note,
}

impl Severity {
    /// The lower-case name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
