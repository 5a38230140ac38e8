//! The lists of completed steps.

pub(crate) mod steps_not_a_list;
pub(crate) mod step_empty;
pub(crate) mod step_unreadable;
pub(crate) mod step_twice;
pub(crate) mod step_kinds_mixed;
pub(crate) mod steps_in_body;
pub(crate) mod number_misread;
pub(crate) mod cut_by_comment;
pub(crate) mod step_unknown;
pub(crate) mod step_ambiguous;
pub(crate) mod step_out_of_order;
pub(crate) mod step_missing;
pub(crate) mod resume_marker;
pub(crate) mod last_step_disagrees;
pub(crate) mod last_step_unknown;
pub(crate) mod current_step_disagrees;
pub(crate) mod finished_with_gaps;

use super::{
    super::{Fix, Safety, Subject},
    argument,
};
use crate::workflow::Step;
use stepmark_frontmatter::{Edit, KeyPath, Span};

/// Bytes that a rule reads to prove its fixes in one file. The fixes behind that are offered when the first
/// ones are made.
const PROVEN_BYTES: usize = 8 << 20;

/// The fix of the finding `nth` of a rule that takes the item at `span` out of its list. Each is proven by
/// reading the file again, so that of many findings in a large file the first ones have one.
fn without_item(subject: &Subject<'_>, nth: usize, span: Span, safety: Safety, title: &str) -> Option<Fix> {
    if nth.saturating_mul(subject.artifact.bytes().len()) > PROVEN_BYTES {
        return None;
    }
    let lists = subject.artifact.state().steps.iter();
    let (key, place) = lists
        .filter_map(|list| Some((list.key, list.items.iter().position(|item| item.span == span)?)))
        .next()?;
    let remove = Edit::Remove { path: KeyPath::key(key).item(place) };
    Fix::edit(safety, title, subject.artifact, &[remove])
}

/// The names of steps as a list in a sentence.
fn names(steps: &[&Step]) -> String {
    steps.iter().map(|step| format!("`{}`", step.name())).collect::<Vec<_>>().join(", ")
}

/// The commands that close the gaps of the artifact.
fn closing(subject: &Subject<'_>, gaps: &[&Step]) -> String {
    let path = argument(subject.artifact.path().as_str());
    let steps: Vec<_> = gaps.iter().map(|step| argument(step.name())).collect();
    let first = gaps.first().map_or("", |step| step.name());
    let skipped = argument(&format!("{first}-skipped"));
    format!("`stepmark complete {path} {}`; a step that was skipped is `{skipped}`", steps.join(" "))
}
