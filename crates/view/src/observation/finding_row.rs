//! A finding with the place that a person looks for.

use stepmark_core::{
    artifact::ProjectPath,
    check::{Rule, Severity},
    document::{LineIndex, Position},
    workspace::CheckedFile,
};

/// A finding with its line and column.
#[derive(Clone, Debug)]
pub struct FindingRow {
    /// The rule that is broken.
    pub rule: &'static Rule,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The file.
    pub path: ProjectPath,
    /// Where in it, from 1.
    pub position: Position,
}

impl FindingRow {
    /// The findings of `file`, in file order.
    pub fn of_file(file: &CheckedFile<'_>) -> Vec<Self> {
        if file.findings.is_empty() {
            return Vec::new();
        }
        let lines = LineIndex::new(&file.bytes);
        let rows = file.findings.iter().map(|finding| Self {
            rule: finding.rule,
            severity: finding.severity,
            message: finding.message.clone(),
            help: finding.help.clone(),
            path: finding.path.clone(),
            position: lines.position(&file.bytes, finding.span.start),
        });
        rows.collect()
    }
}
