//! The scope of the work.

pub(crate) mod scope_unknown;
pub(crate) mod source_unknown;
pub(crate) mod confidence_wrong;
pub(crate) mod scope_missing;
pub(crate) mod confidence_missing;

use crate::artifact::FrontmatterState;

/// What `scope_source` may say (seed `001_…`, D4-Q7).
const SOURCES: [&str; 2] = ["human", "ai"];

/// Whether an AI says that it gave the scope.
fn is_by_ai(state: &FrontmatterState) -> bool {
    let source = state.scope_source.as_ref().and_then(|source| source.filled());
    source.is_some_and(|source| source.trim().eq_ignore_ascii_case("ai"))
}

/// The one of `known` that `word` was most likely meant for.
fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let word = word.to_lowercase();
    let likeness = |known: &&'k str| (strsim::jaro_winkler(&word, known), *known);
    let best = known.iter().map(likeness).max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(likeness, _)| *likeness > 0.8).map(|(_, known)| known)
}
