//! Segments on the disk: files, lines, verification.

pub(super) mod files;
pub(super) mod lines;
pub(in crate::history) mod source;
mod verification;

pub(super) use files::{Listing, SegmentFiles};
pub use files::{SEALED_FOLDER, SegmentFile, SegmentPlace};
#[cfg(feature = "write")]
pub(crate) use lines::JOINED;
pub(super) use lines::{LONGEST_LINE, Progress, ReadLine, without_line_end};
pub(crate) use lines::{Part, is_joined};
pub(crate) use source::{JoinedSegments, files_of_segment, joined_segments};
pub(super) use source::{NamedHeads, SegmentSource};
pub use source::{SegmentEnd, SegmentEnds, SegmentProblem};
#[cfg(feature = "write")]
pub(crate) use verification::read_parts;
pub use verification::{VerifiedSegments, verify_segments};
