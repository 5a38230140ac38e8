//! Reasons why history cannot answer.

use std::io;

use crate::disk::SqliteError;
use stepmark_model::journal::{EventId, ReplayError};

/// A reason why history cannot answer. Lines of a segment that cannot be used are no error: see
/// [`SegmentProblem`](crate::history::SegmentProblem).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    #[error("cannot read the journal: `{path}`")]
    Read {
        /// The path, seen from the project root.
        path: String,
        source: io::Error,
    },
    #[error("cannot build the index of the journal; deleting `.stepmark/local/cache/` does no harm")]
    Index { source: SqliteError },
    #[error("cannot read the journal: its files change while they are read; try again")]
    Restless,
    #[error("no event of the journal has an id that starts with `{prefix}`; `stepmark log` shows the ids")]
    UnknownEvent { prefix: String },
    #[error(
        "`{prefix}` is the beginning of several event ids, as of {}: write more digits",
        candidates.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
    )]
    AmbiguousEvent {
        prefix: String,
        /// Some of the events, in the order of their ids.
        candidates: Vec<EventId>,
    },
    #[error("`{prefix}` is no event id: 4 to 32 hexadecimal digits are wanted; `stepmark log` shows the ids")]
    NoEventId { prefix: String },
    #[error("no event of the journal names the session `{session}`; `stepmark log` shows the sessions")]
    UnknownSession { session: String },
    #[error("cannot find the state after event {event}")]
    Replay { event: EventId, source: ReplayError },
}
