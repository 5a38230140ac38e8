//! The findings that a project starts out with: those it had before it began to check.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Finding;
use crate::artifact::FileHash;

const SCHEMA: &str = "stepmark.baseline/1";

/// Findings that are known and not reported. They are known by file, rule and words, not by place, so that
/// they stay known where lines are added above them; so many of a kind as were counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline(BTreeMap<Key, usize>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    path: String,
    rule: String,
    /// The first 16 hex digits of the SHA-256 of the message.
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

    /// The bytes of its file: sorted, a finding a line, so that two branches that fix different findings
    /// merge.
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

    /// Takes those that are known out of `findings`, and out of the baseline: what is left in it at the end
    /// is gone from the project. Returns how many were known.
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
