//! A line of a segment that cannot be used.

use crate::history::SegmentPlace;
use stepmark_model::journal::{LineProblem, SegmentName};

/// Something wrong in a segment. The other events of the segment count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentProblem {
    /// The segment.
    pub segment: SegmentName,
    /// The place of its file.
    pub place: SegmentPlace,
    /// The path of its file: seen from the project root, with `/` between its parts, where it stands below
    /// the root.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
    /// The start of the line, in bytes of what is not compressed.
    pub offset: u64,
    /// The problem.
    pub problem: LineProblem,
}

/// A [`LineProblem`] as the index keeps it: a word, and the reader's reason where there is one.
pub(in crate::history) fn to_words(problem: &LineProblem) -> (&'static str, &str) {
    match problem {
        LineProblem::Header => ("header", ""),
        LineProblem::NotAnEvent { reason } => ("not-an-event", reason),
        LineProblem::BrokenChain => ("broken-chain", ""),
        LineProblem::NotGenuine => ("not-genuine", ""),
        LineProblem::Torn => ("torn", ""),
        LineProblem::Misnamed { segment } => ("misnamed", segment),
        LineProblem::NotAFile => ("not-a-file", ""),
        LineProblem::Replaced => ("replaced", ""),
        LineProblem::MissingParent { .. } => ("missing-parent", ""),
        LineProblem::MissingSegment { .. } => ("missing-segment", ""),
        LineProblem::Rewritten { .. } => ("rewritten", ""),
    }
}

/// The inverse of [`to_words`].
pub(in crate::history) fn of_words(word: &str, reason: String) -> LineProblem {
    match word {
        "header" => LineProblem::Header,
        "broken-chain" => LineProblem::BrokenChain,
        "not-genuine" => LineProblem::NotGenuine,
        "torn" => LineProblem::Torn,
        "misnamed" => LineProblem::Misnamed { segment: reason },
        _ => LineProblem::NotAnEvent { reason },
    }
}

impl SegmentProblem {
    /// The word for what is wrong: `header`, `not-an-event`, `broken-chain`, `not-genuine`, `torn`,
    /// `misnamed`, `not-a-file`, `replaced`, `missing-parent`, `missing-segment` or `rewritten`.
    pub fn word(&self) -> &'static str {
        to_words(&self.problem).0
    }

    /// Returns whether the journal is damaged. A torn last line of a live segment is no damage: whoever wrote
    /// it was never told that it is kept. A missing event or segment is none: it may be in a clone that did
    /// not share it.
    pub fn is_damage(&self) -> bool {
        match self.problem {
            LineProblem::Torn => self.place != SegmentPlace::Live,
            LineProblem::MissingParent { .. } | LineProblem::MissingSegment { .. } => false,
            _ => true,
        }
    }

    /// Returns whether history lacks something that it refers to.
    pub const fn is_gap(&self) -> bool {
        matches!(self.problem, LineProblem::MissingParent { .. } | LineProblem::MissingSegment { .. })
    }
}
