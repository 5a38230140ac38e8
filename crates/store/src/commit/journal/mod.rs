//! The journal as it is written: events added, segments sealed, sealed segments joined.

mod compaction;
mod journal_file;
mod sealing;
mod torn_lines;

pub use compaction::{CompactError, Compacted, Files, compact_segments};
pub(super) use journal_file::{EXTENSION, JournalFile, chain_at_end, flush, segment_names};
pub use journal_file::{JournalWriteError, append_events};
pub use sealing::{
    LiveSegments, Seal, finish_sealing, publish_copies, read_copy, seal_segments, unpublished_segments,
};
pub use torn_lines::{CutLine, cut_torn_lines};

#[cfg(test)]
mod compaction_cases;
