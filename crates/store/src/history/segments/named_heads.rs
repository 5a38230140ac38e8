//! The heads that segments name of those before them, compared with the segments that are there.

use std::collections::{BTreeMap, BTreeSet};

use crate::disk::root::Root;
use crate::history::{SegmentPlace, SegmentProblem, VerifiedSegments};
use stepmark_model::journal::{HeadSource, LineProblem, SegmentHead, SegmentName};

/// The heads that were named, each with what named it first.
pub(in crate::history) type NamedHeads = BTreeMap<SegmentHead, HeadSource>;

impl VerifiedSegments {
    /// Adds a problem for each of `named` that is not the end of a segment that was read. Of one segment, the
    /// first counts.
    pub(in crate::history) fn compare(&mut self, root: &Root, named: NamedHeads) {
        let mut reported = BTreeSet::new();
        for (head, by) in named {
            if self.ends.get(&head.segment).is_none_or(|end| end.last != head.last)
                && reported.insert(head.segment.clone())
            {
                self.problems.push(self.problem(root, &head, by));
            }
        }
    }

    /// Returns the problem of a segment that does not end as a witness says.
    pub(crate) fn problem(&self, root: &Root, head: &SegmentHead, by: HeadSource) -> SegmentProblem {
        let end = self.ends.get(&head.segment);
        let place = end.map_or(SegmentPlace::Sealed, |end| end.place);
        SegmentProblem {
            segment: head.segment.clone(),
            place,
            file: place.file_of(root, &head.segment, end.and_then(|end| end.pack.as_deref())),
            line: end.map_or(1, |end| end.lines.max(1)),
            offset: end.map_or(0, |end| end.start),
            problem: match end {
                Some(_) => LineProblem::Rewritten { by },
                None => LineProblem::MissingSegment { by },
            },
        }
    }
}

/// The last line of a segment that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentEnd {
    /// The place of the file of the segment.
    pub place: SegmentPlace,
    /// The name of the pack that it stands in.
    pub pack: Option<String>,
    /// The hash of the line.
    pub last: stepmark_model::artifact::FileHash,
    /// The number of lines.
    pub lines: u64,
    /// The start of the line, in bytes of what is not compressed.
    pub start: u64,
}

/// The ends of segments by their names.
pub type SegmentEnds = BTreeMap<SegmentName, SegmentEnd>;
