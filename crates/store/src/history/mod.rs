//! History as it is read: segments, the index over them, and what is asked of both.
//!
//! Truth lies in the segments alone. The index in `.stepmark/local/cache/journal.db` can be deleted at any
//! time; it is brought up to date from the ends of the segments before every question, and made anew when it
//! is missing, damaged, of another version, or does not fit. Where it cannot be written, it lies in memory
//! for the run.
#![expect(clippy::disallowed_methods, reason = "an edge module: segments and the index are read here")]

mod error;

/// Segments as they stand on the disk: their files, packs and lines, and all of them read again.
mod segments {
    pub(super) mod compressed;
    pub(super) mod files;
    pub(super) mod lines;
    mod named_heads;
    pub(super) mod pack;
    pub(super) mod pack_files;
    pub(super) mod problem;
    mod source;
    mod verification;

    pub use compressed::compress;
    pub(super) use compressed::{Counted, Member, Members};
    pub(super) use files::{Listing, PackPlace, SegmentFiles, is_absent, sealed_folder};
    pub use files::{SEALED_FOLDER, SegmentFile, SegmentPlace};
    pub(super) use lines::{LONGEST_LINE, Progress, ReadLine, without_line_end};
    pub(super) use named_heads::NamedHeads;
    pub use named_heads::{SegmentEnd, SegmentEnds};
    pub use pack::{
        LARGEST_PACK, MOST_SEGMENTS, PACK_ENDING, PackReader, PackedSegment, contents, is_packable, pack,
    };
    pub(crate) use pack_files::{files_of_segment, packed_segments};
    pub use problem::SegmentProblem;
    pub(super) use source::SegmentSource;
    pub use verification::{VerifiedSegments, verify_segments};
}

/// The disposable database that says where each event stands.
mod index {
    pub(super) mod catch_up;
    pub(super) mod check;
    mod database;
    mod filling;
    pub(super) mod heads;
    pub(super) mod identity;
    pub(super) mod row;
    pub(super) mod schema;

    #[cfg(test)]
    mod cases;

    pub use check::EventSum;
    pub(super) use database::{Fault, Index};
    pub(super) use filling::Filling;
    pub(super) use row::{Row, state_part};
    pub(super) use schema::LAYOUT;
}

/// The questions that are asked of segments and index.
mod reading {
    pub(super) mod event_reader;
    mod event_segments;
    mod extent;
    mod overviews;
    mod points;
    mod questions;
    mod reader;
    mod selections;
    pub(super) mod tips;

    pub(super) use event_reader::{EventPlace, EventReader};
    pub use event_segments::Removal;
    pub use overviews::{KnownArtifact, KnownSegment, Session};
    pub use points::Point;
    pub use reader::History;
    pub use selections::Selection;
}

pub use error::HistoryError;
pub use index::EventSum;
use reading::EventReader;
pub use reading::{History, KnownArtifact, KnownSegment, Point, Removal, Selection, Session};
pub use segments::{
    LARGEST_PACK, MOST_SEGMENTS, PACK_ENDING, PackReader, PackedSegment, SEALED_FOLDER, SegmentEnd,
    SegmentEnds, SegmentFile, SegmentPlace, SegmentProblem, VerifiedSegments, compress,
    contents as pack_contents, is_packable, pack, verify_segments,
};
pub(crate) use segments::{files_of_segment, packed_segments};

#[cfg(test)]
mod any_split;
#[cfg(test)]
mod history_cases;
#[cfg(test)]
mod scratch_journal;
