//! Changes of an artifact since HEAD. Frontmatter is the truth, so whoever takes something out of it must
//! have told history: `reopen`, `undo`, `restore` and an override do, an editor does not.

pub mod steps_removed;
pub(crate) mod finished_work_reopened;
pub(crate) mod status_move_illegal;
pub(crate) mod state_key_removed;
pub(crate) mod key_removed;
pub(crate) mod id_changed;
pub(crate) mod artifact_deleted;
pub mod history_missing;
#[cfg(test)]
mod sample;

use super::argument;
use serde_json::{Map, Value as Json};

use super::super::{BaseVersion, Subject};
use crate::{
    artifact::{Artifact, Field},
    lifecycle::Lifecycle,
};
use stepmark_frontmatter::Span;

/// The words that finish work where no lifecycle is known (docs/formats.md, "Statuses").
const FINISHED_WORDS: [&str; 3] = ["done", "complete", "completed"];

/// The past of an artifact that can be read: of one that is broken other rules tell, and nothing is known to
/// be lost.
pub(super) fn readable_base<'a>(subject: &Subject<'a>) -> Option<BaseVersion<'a>> {
    let broken = subject.artifact.diagnoses().iter().any(|diagnosis| diagnosis.problem.hides_state());
    subject.base.filter(|_| !broken)
}

/// The status moved: `(before, after)`, the latter empty where there is none any more.
fn status_move<'a>(base: &BaseVersion<'a>, artifact: &'a Artifact) -> Option<(&'a str, &'a str)> {
    let before = base.artifact().state().status.as_ref().and_then(Field::filled)?;
    let after = artifact.state().status.as_ref().and_then(Field::filled).unwrap_or_default();
    (!before.eq_ignore_ascii_case(after)).then_some((before, after))
}

/// Returns whether a status word says that the work has ended.
fn is_finished(lifecycle: Option<&Lifecycle>, status: &str) -> bool {
    match lifecycle {
        Some(lifecycle) => lifecycle.is_terminal(status),
        None => FINISHED_WORDS.iter().any(|word| word.eq_ignore_ascii_case(status)),
    }
}

/// The span of the status; without one, the position where it would be.
fn place_of_status(artifact: &Artifact) -> Span {
    artifact.state().status.as_ref().map_or(Span::at(0), |status| status.span)
}

/// The keys of the root that say something, with what they say; `None` where readers would disagree on it.
fn keys(artifact: &Artifact) -> Option<Map<String, Json>> {
    match artifact.state_value() {
        Ok(Json::Object(keys)) => Some(keys.into_iter().filter(|(_, value)| says_something(value)).collect()),
        _ => None,
    }
}

fn says_something(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(entries) => !entries.is_empty(),
        Json::Bool(_) | Json::Number(_) => true,
    }
}

/// Words as a list in a sentence.
fn quoted<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
