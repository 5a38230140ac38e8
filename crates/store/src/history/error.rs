//! Reasons why history cannot answer.

use std::io;

use crate::disk::SqliteError;
use stepmark_model::journal::{EventId, ReplayError};

/// A reason why history cannot answer. Lines of a segment that cannot be used are no error: see
/// [`SegmentProblem`](crate::history::SegmentProblem).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// A segment, or the folder of the segments, cannot be read.
    #[error("cannot read the journal: `{path}`")]
    Read {
        /// The path, seen from the project root.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The index cannot even be built in memory.
    #[error("cannot build the index of the journal; deleting `.stepmark/local/cache/` does no harm")]
    Index {
        /// The error of the database.
        source: SqliteError,
    },
    /// The segments change faster than they can be read.
    #[error("cannot read the journal: its files change while they are read; try again")]
    Restless,
    /// No event has an id that starts like this.
    #[error("no event of the journal has an id that starts with `{prefix}`; `stepmark log` shows the ids")]
    UnknownEvent {
        /// The beginning that was given.
        prefix: String,
    },
    /// Several events have an id that starts like this.
    #[error(
        "`{prefix}` is the beginning of several event ids, as of {}: write more digits",
        candidates.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
    )]
    AmbiguousEvent {
        /// The beginning that was given.
        prefix: String,
        /// Some of the events, in the order of their ids.
        candidates: Vec<EventId>,
    },
    /// The text cannot be the beginning of an id.
    #[error("`{prefix}` is no event id: 4 to 32 hexadecimal digits are wanted; `stepmark log` shows the ids")]
    NoEventId {
        /// The text that was given.
        prefix: String,
    },
    /// No event names this session.
    #[error("no event of the journal names the session `{session}`; `stepmark log` shows the sessions")]
    UnknownSession {
        /// The session.
        session: String,
    },
    /// The way to a state is cut or does not fit.
    #[error("cannot find the state after event {event}")]
    Replay {
        /// The event.
        event: EventId,
        /// The reason.
        source: ReplayError,
    },
}
