//! A finding: data that renderers turn into text, JSON or annotations.

use std::{collections::BTreeMap, fmt};

use super::Rule;
use crate::artifact::{Artifact, FileHash, ProjectPath};
use serde::{Deserialize, Serialize};
use stepmark_frontmatter::{Edit, Span, Splice, apply};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub rule: &'static Rule,
    /// From the configuration, else from the rule.
    pub severity: Severity,
    /// One sentence, without the position.
    pub message: String,
    pub help: Option<String>,
    pub path: ProjectPath,
    pub span: Span,
    pub fix: Option<Fix>,
}

impl Finding {
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
    /// Probably not what was meant.
    Warning,
    /// Never a reason to fail.
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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

/// Proven if it changes frontmatter. Splices are ordered, do not overlap, and refer to the checked bytes.
/// Fixes of two findings may overlap; then one waits for the next check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub safety: Safety,
    /// As a command: `quote 1.10`.
    pub title: String,
    pub splices: Vec<Splice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Safety {
    /// Does not change the meaning for any reader.
    Safe,
    /// Drops state or guesses; a person should review it.
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
    pub fn splice(safety: Safety, title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        Self { safety, title: title.into(), splices: vec![Splice { span, text: text.into() }] }
    }

    /// `None`: not faithful, or no change.
    pub fn edit(
        safety: Safety,
        title: impl Into<String>,
        artifact: &Artifact,
        edits: &[Edit],
    ) -> Option<Self> {
        let file = artifact.bytes();
        let edited = apply(file, &artifact.region(), edits).ok()?;
        let splices = match edits {
            // The splices of one edit refer to the original file.
            [_] => edited.splices,
            _ => difference(file, &edited.bytes).into_iter().collect(),
        };
        (!splices.is_empty()).then(|| Self { safety, title: title.into(), splices })
    }
}

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

const SCHEMA: &str = "stepmark.baseline/1";

/// Known findings, which are not reported. Counted by file, rule and message, not by position: lines may be
/// added above them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline(BTreeMap<Key, usize>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    path: String,
    rule: String,
    /// First 16 hex digits of its SHA-256.
    message: String,
}

#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error("it cannot be read as a baseline; `stepmark check --write-baseline` makes a new one")]
    Unreadable(#[from] serde_json::Error),
    #[error("its schema is `{schema}`, and this version of stepmark reads `{SCHEMA}`")]
    Schema { schema: String },
}

#[derive(Serialize, Deserialize)]
struct File {
    schema: String,
    findings: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    path: String,
    rule: String,
    message: String,
    count: usize,
}

impl Key {
    fn of(finding: &Finding) -> Self {
        let mut message = FileHash::of(finding.message.as_bytes()).to_string();
        message.truncate(16);
        Self { path: finding.path.to_string(), rule: finding.rule.id.to_owned(), message }
    }
}

impl Baseline {
    pub fn of<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Self {
        let mut counts = BTreeMap::new();
        for finding in findings {
            *counts.entry(Key::of(finding)).or_default() += 1;
        }
        Self(counts)
    }

    pub fn read(bytes: &[u8]) -> Result<Self, BaselineError> {
        let file: File = serde_json::from_slice(bytes)?;
        if file.schema != SCHEMA {
            return Err(BaselineError::Schema { schema: file.schema });
        }
        let mut counts = BTreeMap::new();
        let counted = file.findings.into_iter().filter(|entry| entry.count > 0);
        for Entry { path, rule, message, count } in counted {
            *counts.entry(Key { path, rule, message }).or_default() += count;
        }
        Ok(Self(counts))
    }

    /// Sorted, one finding per line, so that branches merge.
    pub fn to_bytes(&self) -> Vec<u8> {
        let entries = self.0.iter().map(|(Key { path, rule, message }, count)| {
            serde_json::json!({"path": path, "rule": rule, "message": message, "count": count}).to_string()
        });
        let entries: Vec<_> = entries.map(|entry| format!("  {entry}")).collect();
        let list = if entries.is_empty() { String::new() } else { format!("\n{}\n", entries.join(",\n")) };
        format!("{{\"schema\": \"{SCHEMA}\", \"findings\": [{list}]}}\n").into_bytes()
    }

    pub fn len(&self) -> usize {
        self.0.values().sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes known findings from `findings` and from the baseline; the rest of the baseline is fixed.
    /// Returns their number.
    pub fn subtract(&mut self, findings: &mut Vec<Finding>) -> usize {
        let before = findings.len();
        if !self.0.is_empty() {
            findings.retain(|finding| !self.take(finding));
        }
        before - findings.len()
    }

    fn take(&mut self, finding: &Finding) -> bool {
        let key = Key::of(finding);
        let Some(count) = self.0.get_mut(&key) else { return false };
        *count -= 1;
        if *count == 0 {
            self.0.remove(&key);
        }
        true
    }
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

#[cfg(test)]
mod baseline_tests {
    use super::*;
    use crate::{
        artifact::{Artifact, ProjectPath},
        check::{Subject, findings},
    };

    fn found(file: &str) -> Vec<Finding> {
        let artifact = Artifact::read(ProjectPath::new("a.md").unwrap(), file.as_bytes().to_vec());
        findings(&Subject::alone(&artifact))
    }

    #[test]
    fn known_findings_stay_known_where_lines_move() {
        let mut old = found("---\nx: 1\nx: 2\nx: 3\nstatus: 3\n---\n");
        let written = Baseline::of(&old).to_bytes();
        let baseline = Baseline::read(&written).unwrap();
        assert_eq!((baseline.len(), baseline.is_empty(), baseline.to_bytes()), (3, false, written));
        assert_eq!((baseline.clone().subtract(&mut old), old.len()), (3, 0));

        let mut moved = found("---\ntitle: PRD\nx: 1\nx: 2\n\nx: 3\nx: 4\ny: 1\ny: 1\n---\n");
        let mut rest = baseline;
        assert_eq!(rest.subtract(&mut moved), 2);
        let messages: Vec<_> = moved.iter().map(|finding| finding.message.as_str()).collect();
        assert!(
            messages.len() == 2 && messages[0].contains("`x`") && messages[1].contains("`y`"),
            "{messages:?}"
        );
        assert_eq!(rest.len(), 1, "the status is fixed");
    }

    #[test]
    fn a_baseline_without_findings_is_one() {
        let empty = Baseline::default();
        assert!(empty.is_empty());
        assert_eq!(Baseline::read(&empty.to_bytes()).unwrap(), empty);
    }

    #[test]
    fn what_is_no_baseline_is_refused() {
        for text in ["", "[]", "{\"schema\": \"stepmark.baseline/1\"}"] {
            assert!(matches!(Baseline::read(text.as_bytes()), Err(BaselineError::Unreadable(_))), "{text}");
        }
        let other = b"{\"schema\": \"stepmark.baseline/2\", \"findings\": []}";
        assert!(matches!(Baseline::read(other), Err(BaselineError::Schema { .. })));
        let none = b"{\"schema\": \"stepmark.baseline/1\", \"findings\": [{\"path\": \"a.md\", \"rule\": \"SM106\", \"message\": \"x\", \"count\": 0}]}";
        let mut findings = found("---\nx: 1\nx: 2\n---\n");
        assert_eq!(Baseline::read(none).unwrap().subtract(&mut findings), 0);
    }
}
