//! Segments as they stand on the disk: their files, packs and lines, and all of them read again.

pub(super) mod compressed;
pub(super) mod files;
pub(super) mod lines;
pub(super) mod pack;
pub(in crate::history) mod source;
mod verification;

pub use compressed::compress;
pub(super) use compressed::{Counted, Member, Members};
pub(super) use files::{Listing, PackPlace, SegmentFiles, is_absent, sealed_folder};
pub use files::{SEALED_FOLDER, SegmentFile, SegmentPlace};
pub(super) use lines::{LONGEST_LINE, Progress, ReadLine, without_line_end};
pub use pack::{
    LARGEST_PACK, MOST_SEGMENTS, PACK_ENDING, PackReader, PackedSegment, contents, is_packable, pack,
};
pub(super) use source::NamedHeads;
pub use source::SegmentProblem;
pub(super) use source::SegmentSource;
pub use source::{SegmentEnd, SegmentEnds};
pub(crate) use source::{files_of_segment, packed_segments};
pub use verification::{VerifiedSegments, verify_segments};
