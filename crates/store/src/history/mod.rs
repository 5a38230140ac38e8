//! History as it is read: segments, the index over them, and what is asked of both.
//!
//! Truth lies in the segments alone. The index in `.stepmark/local/cache/journal.db` can be deleted at any time; it is brought up
//! to date from the ends of the segments before every question, and made anew when it is missing, damaged, of another
//! version, or does not fit. Where it cannot be written, it lies in memory for the run.
#![expect(clippy::disallowed_methods, reason = "an edge module: segments and the index are read here")]

mod error;
mod segment_files;
mod problem;
mod compressed;
mod pack;
mod pack_files;
mod segment_source;
mod segment_lines;
mod event_reader;
mod schema;
mod index;
mod row;
mod heads;
mod filling;
mod catch_up;
mod identity;
mod reader;
mod questions;
mod points;
mod overviews;
mod selections;
mod extent;
mod event_segments;
mod tips;
mod index_check;
mod named_heads;
mod verification;

pub use compressed::compress;
pub use error::HistoryError;
pub use event_segments::Removal;
pub use index_check::EventSum;
pub use named_heads::{SegmentEnd, SegmentEnds};
pub use overviews::{KnownArtifact, KnownSegment, Session};
pub use pack::{
    LARGEST_PACK, MOST_SEGMENTS, PACK_ENDING, PackReader, PackedSegment, contents as pack_contents,
    is_packable, pack,
};
pub use points::Point;
pub use problem::SegmentProblem;
pub use reader::History;
pub use segment_files::{SEALED_FOLDER, SegmentFile, SegmentPlace};
pub use selections::Selection;
pub use verification::{VerifiedSegments, verify_segments};

pub(crate) use pack_files::{files_of_segment, packed_segments};

use event_reader::EventReader;

#[cfg(test)]
mod any_split;
#[cfg(test)]
mod history_cases;
#[cfg(test)]
mod index_cases;
#[cfg(test)]
mod scratch_journal;
