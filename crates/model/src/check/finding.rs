//! A finding: data that renderers turn into text, JSON or annotations.

use std::fmt;

use serde::Serialize;

use super::{Fix, Rule};
use crate::artifact::ProjectPath;
use stepmark_frontmatter::Span;

/// Something that is wrong with an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: &'static Rule,
    /// Its severity: that of the configuration, else that of the rule.
    pub severity: Severity,
    /// The problem, in one sentence without the position.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// The file.
    pub path: ProjectPath,
    /// The bytes of the file that it is about.
    pub span: Span,
    /// The change that fixes it, where a program can make it.
    pub fix: Option<Fix>,
}

impl Finding {
    /// A finding without help and fix, as bad as `rule` says.
    pub fn new(rule: &'static Rule, path: &ProjectPath, span: Span, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.severity,
            message: message.into(),
            help: None,
            path: path.clone(),
            span,
            fix: None,
        }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The same with the change that fixes it, if there is one.
    #[must_use]
    pub fn with_fix(self, fix: impl Into<Option<Fix>>) -> Self {
        Self { fix: fix.into(), ..self }
    }
}

/// The severity of a finding, the worst first.
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

/// The number of findings of each severity an artifact has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProblemCounts {
    /// The number of errors.
    pub errors: usize,
    /// The number of warnings.
    pub warnings: usize,
    /// The number of notes.
    pub notes: usize,
}

impl ProblemCounts {
    /// Counts `findings`.
    pub fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            match finding.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Note => counts.notes += 1,
            }
        }
        counts
    }

    /// Returns how many errors and warnings there are.
    pub const fn problems(self) -> usize {
        self.errors + self.warnings
    }
}
