//! Many issues in one request (GitHub's "GraphQL API"): read by their ids, changed by several mutations side
//! by side, which may succeed in part.

mod document;
mod node;
mod update;

/// The number of issues that are read at once (docs/formats.md, "Trackers").
pub(super) const READ_BATCH: usize = 100;

/// The number of mutations that stand in one request (docs/formats.md, "Trackers").
pub(super) const MUTATIONS: usize = 20;

/// The number of tickets that are changed at once: three requests' worth of mutations after one that reads,
/// so that a thousand changes need 67 requests.
pub(super) const UPDATE_BATCH: usize = 3 * MUTATIONS;
