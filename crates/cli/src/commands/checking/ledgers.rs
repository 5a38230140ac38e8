//! The output about a projection of ledgers.

use serde_json::{Value as Json, json};
use stepmark_model::bmad::sprint::LedgerEntry;
use stepmark_store::Error;
use stepmark_store::bmad::sprint::{BrokenSprintStatus, LedgerLeft, LedgerProjection};

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
    let failed = done.failed.iter().map(|error: &Error| chain(error));
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

pub(crate) fn wire(done: &LedgerProjection) -> Json {
    let entry = |entry: &LedgerEntry| {
        json!({
            "story": entry.story.as_str(),
            "file": entry.file().as_str(),
            "key": entry.key,
            "says": entry.from,
            "frontmatter": entry.status,
            "becomes": entry.to,
        })
    };
    let left = |left: &LedgerLeft| {
        let mut wire = entry(&left.entry);
        wire["reason"] = left.reason.as_str().into();
        wire
    };
    let broken = |broken: &BrokenSprintStatus| {
        let position = Excerpt::new(&broken.bytes).position(broken.finding.span.start);
        json!({
            "file": broken.finding.path.as_str(),
            "line": position.line,
            "column": position.column,
            "message": broken.finding.message,
        })
    };
    json!({
        "entries": done.written.iter().map(entry).collect::<Vec<_>>(),
        "refused": done.refused.iter().map(entry).collect::<Vec<_>>(),
        "left": done.left.iter().map(left).collect::<Vec<_>>(),
        "broken": done.broken.iter().map(broken).collect::<Vec<_>>(),
        "waiting": done.waiting.iter().map(|path| path.as_str()).collect::<Vec<_>>(),
    })
}
