//! A finding: data that renderers turn into text, JSON or annotations.

use super::Rule;
use crate::artifact::{Artifact, ProjectPath};
use serde::Serialize;
use std::fmt;
use stepmark_frontmatter::{Edit, Span, Splice, apply};

/// Something that is wrong with an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub rule: &'static Rule,
    /// Its severity: that of the configuration, else that of the rule.
    pub severity: Severity,
    /// The problem, in one sentence without the position.
    pub message: String,
    pub help: Option<String>,
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

    #[must_use]
    pub fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    #[must_use]
    pub fn with_fix(self, fix: impl Into<Option<Fix>>) -> Self {
        Self { fix: fix.into(), ..self }
    }
}

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
    pub errors: usize,
    pub warnings: usize,
    pub notes: usize,
}

impl ProblemCounts {
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

    pub const fn problems(self) -> usize {
        self.errors + self.warnings
    }
}

/// A change of the file that fixes a finding, proven where it changes frontmatter. Its splices are in order,
/// do not overlap, and count in the bytes that were checked; fixes of two findings may overlap, and then one
/// of them has to wait for the next check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub safety: Safety,
    /// Its effect, as a command: `quote 1.10`.
    pub title: String,
    /// The bytes that it replaces.
    pub splices: Vec<Splice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Safety {
    /// No reader takes the file for anything else afterwards than what it says already.
    Safe,
    /// Some state that stands in the file goes, or a choice was made that a person should look at.
    Unsafe,
}

impl Safety {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
        }
    }
}

impl Fix {
    /// The fix that puts `text` where `span` is.
    pub fn splice(safety: Safety, title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        Self { safety, title: title.into(), splices: vec![Splice { span, text: text.into() }] }
    }

    /// The fix that makes `edits` in the state of `artifact`; `None` where they cannot be made faithfully,
    /// or nothing would change.
    pub fn edit(
        safety: Safety,
        title: impl Into<String>,
        artifact: &Artifact,
        edits: &[Edit],
    ) -> Option<Self> {
        let file = artifact.bytes();
        let edited = apply(file, &artifact.region(), edits).ok()?;
        let splices = match edits {
            // The splices of one edit count in the file as it is.
            [_] => edited.splices,
            _ => difference(file, &edited.bytes).into_iter().collect(),
        };
        (!splices.is_empty()).then(|| Self { safety, title: title.into(), splices })
    }
}

/// One splice that leads from `before` to `after`; `None` where they are the same, or part inside of a
/// character.
fn difference(before: &[u8], after: &[u8]) -> Option<Splice> {
    if before == after {
        return None;
    }
    let before_text = std::str::from_utf8(before).ok()?;
    let after_text = std::str::from_utf8(after).ok()?;
    let pairs = before_text.char_indices().zip(after_text.chars());
    let same = pairs.take_while(|((_, one), other)| one == other).last();
    let start = same.map_or(0, |((at, character), _)| at + character.len_utf8());
    let pairs = before_text[start..].chars().rev().zip(after_text[start..].chars().rev());
    let end: usize = pairs.take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum();
    let text = after_text[start..after.len() - end].to_owned();
    Some(Splice { span: Span::new(start, before.len() - end), text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ProjectPath;
    use stepmark_frontmatter::{KeyPath, Value};

    #[test]
    fn several_edits_become_one_splice() {
        let artifact =
            |file: &str| Artifact::read(ProjectPath::new("a.md").unwrap(), file.as_bytes().to_vec());
        let text = "---\na: é1\nb: 2\nc: 3\n---\nbody\n";
        let file = &artifact(text);
        let set = |key: &str, text: &str| Edit::Set { path: KeyPath::key(key), value: Value::from(text) };
        let fix = Fix::edit(Safety::Safe, "x", file, &[set("a", "è1"), set("b", "9")]).unwrap();
        let [splice] = &fix.splices[..] else { panic!("{fix:?}") };
        assert_eq!(&text[splice.span.range()], "é1\nb: 2");
        assert_eq!(splice.text, "è1\nb: '9'");
        assert_eq!(Fix::edit(Safety::Safe, "x", file, &[]), None);
        assert_eq!(Fix::edit(Safety::Safe, "x", &artifact("no frontmatter"), &[set("a", "1")]), None);
    }

    proptest::proptest! {
        #[test]
        fn the_difference_leads_from_one_text_to_the_other(before in "[aé]{0,6}", after in "[aé]{0,6}") {
            let made = difference(before.as_bytes(), after.as_bytes()).map_or(before.clone(), |splice| {
                let mut text = before.clone();
                text.replace_range(splice.span.range(), &splice.text);
                text
            });
            proptest::prop_assert_eq!(made, after);
        }
    }
}
