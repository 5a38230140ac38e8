//! Reading history: segments, their index, and queries.
//!
//! Only the segments are authoritative. The index in `.stepmark/local/cache/journal.db` may be deleted at any
//! time; it is updated from the ends of the segments before every query, and rebuilt if missing, damaged,
//! outdated or inconsistent. If it cannot be written, it is in memory for the run.
#![expect(clippy::disallowed_methods, reason = "an edge module: segments and the index are read here")]

mod index;
mod reading;
mod segments;

use std::io;

use crate::{Error, ErrorKind, disk::SqliteError};
use stepmark_model::journal::EventId;

pub use index::EventSum;
use reading::EventReader;
pub use reading::{History, KnownArtifact, KnownSegment, Point, Removal, Selection, Session};
#[cfg(feature = "write")]
pub(crate) use segments::{JOINED, Part, is_joined, read_parts};
pub(crate) use segments::{JoinedSegments, files_of_segment, joined_segments};
pub use segments::{
    SEALED_FOLDER, SegmentEnd, SegmentEnds, SegmentFile, SegmentPlace, SegmentProblem, VerifiedSegments,
    verify_segments,
};

/// `path` is relative to the project root.
fn unreadable(path: &str, source: io::Error) -> Error {
    Error::io(format!("cannot read the journal: `{path}`"), source)
}

fn no_index(source: rusqlite::Error) -> Error {
    let message = "cannot build the index of the journal; deleting `.stepmark/local/cache/` does no harm";
    Error::io(message, SqliteError(source))
}

fn restless() -> Error {
    Error::new(ErrorKind::Io, "cannot read the journal: its files change while they are read; try again")
}

fn unknown_event(prefix: &str) -> Error {
    Error::unknown(format!(
        "no event of the journal has an id that starts with `{prefix}`; `stepmark log` shows the ids"
    ))
}

fn unknown_session(session: &str) -> Error {
    Error::unknown(format!(
        "no event of the journal names the session `{session}`; `stepmark log` shows the sessions"
    ))
}

fn ambiguous_event(prefix: &str, candidates: &[EventId]) -> Error {
    let ids: Vec<String> = candidates.iter().map(|id| format!("`{id}`")).collect();
    Error::usage(format!(
        "`{prefix}` is the beginning of several event ids, as of {}: write more digits",
        ids.join(", ")
    ))
}

fn no_event_id(prefix: &str) -> Error {
    Error::unknown(format!(
        "`{prefix}` is no event id: 4 to 32 hexadecimal digits are wanted; `stepmark log` shows the ids"
    ))
}

#[cfg(test)]
mod any_split_cases;
#[cfg(test)]
mod history_cases;
#[cfg(test)]
mod scratch_journal;
