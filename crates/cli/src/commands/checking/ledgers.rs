//! The output about a projection of ledgers.

use schemars::JsonSchema;
use serde::Serialize;
use stepmark_frontmatter::Position;
use stepmark_model::{artifact::ProjectPath, bmad::sprint::LedgerEntry, check::Finding};
use stepmark_store::bmad::sprint::{BrokenSprintStatus, LedgerProjection};
use stepmark_store::changes::ChangeError;

use crate::{
    exit::chain,
    output::{Excerpt, spinner},
};

pub(crate) fn problems(done: &LedgerProjection) -> Vec<String> {
    let refused = done.refused.iter().map(|entry| {
        let story = &entry.story;
        format!("{story}: {entry}: left, since no lifecycle has that word; `stepmark import stories --prefer SIDE {story}` says which side wins")
    });
    let left =
        done.left.iter().map(|left| format!("{}: {}: left: {}", left.entry.story, left.entry, left.reason));
    let failed = done.failed.iter().map(|error: &ChangeError| chain(error));
    refused.chain(left).chain(done.broken.iter().map(broken)).chain(failed).collect()
}

/// The line for a ledger that is no YAML: what becomes of it; what is wrong with it, its excerpt shows.
fn broken(broken: &BrokenSprintStatus) -> String {
    let finding = &broken.finding;
    let position = Excerpt::new(&broken.bytes).position(finding.span.start);
    format!("{}:{position}: left alone, since it cannot be read ({})", finding.path, finding.rule.id)
}

/// The places of ledgers that are no YAML, as people see them.
pub(crate) fn excerpts(broken: &[BrokenSprintStatus]) -> Vec<String> {
    broken.iter().map(|broken| Excerpt::new(&broken.bytes).report(&broken.finding)).collect()
}

pub(crate) fn warnings(done: &LedgerProjection) -> Vec<String> {
    spinner::waiting_stories(done.waiting.len()).into_iter().collect()
}

pub(crate) fn remarks(done: &LedgerProjection) -> Vec<String> {
    let line = |entry: &LedgerEntry| {
        let from = entry.from.as_deref().map_or_else(|| "nothing".to_owned(), |from| format!("`{from}`"));
        format!("{}: {}: {from} → `{}`", entry.file(), entry.key, entry.to)
    };
    done.written.iter().map(line).collect()
}

/// The output about ledgers as JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LedgersDone {
    entries: Vec<EntryRow>,
    refused: Vec<EntryRow>,
    left: Vec<EntryRow>,
    broken: Vec<BrokenRow>,
    waiting: Vec<ProjectPath>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EntryRow {
    story: ProjectPath,
    file: ProjectPath,
    key: String,
    says: Option<String>,
    frontmatter: String,
    becomes: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BrokenRow {
    file: ProjectPath,
    line: usize,
    column: usize,
    message: String,
}

impl LedgersDone {
    pub(crate) fn of(done: &LedgerProjection) -> Self {
        let row = |entry: &LedgerEntry, reason: Option<&String>| EntryRow {
            story: entry.story.clone(),
            file: entry.file().clone(),
            key: entry.key.clone(),
            says: entry.from.clone(),
            frontmatter: entry.status.clone(),
            becomes: entry.to.clone(),
            reason: reason.cloned(),
        };
        let broken = |broken: &BrokenSprintStatus| {
            let Position { line, column } = Excerpt::new(&broken.bytes).position(broken.finding.span.start);
            let Finding { path, message, .. } = &broken.finding;
            BrokenRow { file: path.clone(), line, column, message: message.clone() }
        };
        Self {
            entries: done.written.iter().map(|entry| row(entry, None)).collect(),
            refused: done.refused.iter().map(|entry| row(entry, None)).collect(),
            left: done.left.iter().map(|left| row(&left.entry, Some(&left.reason))).collect(),
            broken: done.broken.iter().map(broken).collect(),
            waiting: done.waiting.clone(),
        }
    }
}
