//! Many issues in one request (GitHub's "GraphQL API"): read by their ids, changed by several mutations side by side, which may succeed
//! in part.

mod answer;
mod document;
mod mutations;
mod node;
mod read;
mod update;

/// How many issues are read at once (docs/formats.md, "Trackers").
pub(super) const READ_BATCH: usize = 100;

/// How many mutations stand in one request (docs/formats.md, "Trackers").
pub(super) const MUTATIONS: usize = 20;

/// How many tickets are changed at once: three requests' worth of mutations after one that reads, so that a thousand changes need 67
/// requests.
pub(super) const UPDATE_BATCH: usize = 3 * MUTATIONS;
