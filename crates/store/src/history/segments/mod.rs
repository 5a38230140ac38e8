//! Segments as they stand on the disk: their files, packs and lines, and all of them read again.

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
