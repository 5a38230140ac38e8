//! History as it is read: segments, the index over them, and what is asked of both.
//!
//! Truth lies in the segments alone. The index in `.stepmark/local/cache/journal.db` can be deleted at any
//! time; it is brought up to date from the ends of the segments before every question, and made anew when it
//! is missing, damaged, of another version, or does not fit. Where it cannot be written, it lies in memory
//! for the run.
#![expect(clippy::disallowed_methods, reason = "an edge module: segments and the index are read here")]

mod error;
mod index;
mod reading;
mod segments;

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

#[cfg(test)]
mod any_split_cases;
#[cfg(test)]
mod history_cases;
#[cfg(test)]
mod scratch_journal;
