//! Reading a segment from its start, and its problems.

use crate::Error;
use crate::disk::own_file::{self, Access};
use crate::history::segments::{LONGEST_LINE, SEALED_FOLDER, files, is_joined, without_line_end};
use crate::history::unreadable;
use crate::history::{SegmentFile, SegmentPlace, VerifiedSegments};
use crate::{disk::root::Root, history::index::Fault};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use stepmark_model::artifact::ProjectPath;
use stepmark_model::journal::{Header, LineProblem, SegmentHead, SegmentName};

/// In bytes. A commit reads line by line after growing the segment by one: a buffer of the largest size would
/// cost more than that.
const LARGEST_BUFFER: usize = 256 * 1024;
const SMALLEST_BUFFER: usize = 4 * 1024;

pub(in crate::history) struct SegmentSource(BufReader<File>);

impl SegmentSource {
    /// About `wanted` bytes will be read.
    pub(in crate::history) fn open(root: &Root, file: &SegmentFile, wanted: u64) -> Result<Self, Fault> {
        let buffer = usize::try_from(wanted).map_or(LARGEST_BUFFER, |wanted| wanted + 1);
        let buffer = buffer.clamp(SMALLEST_BUFFER, LARGEST_BUFFER);
        match file.open(root) {
            Err(error) if files::is_absent(&error) => Err(Fault::Stale),
            Err(source) => Err(unreadable(&file.path(root), source).into()),
            Ok(opened) => Ok(Self(BufReader::with_capacity(buffer, opened))),
        }
    }

    pub(in crate::history) fn reader(&mut self) -> &mut dyn BufRead {
        &mut self.0
    }

    pub(in crate::history) fn skip_to(&mut self, start: u64) -> io::Result<()> {
        if start > 0 { self.0.seek(SeekFrom::Start(start)).map(drop) } else { Ok(()) }
    }

    pub(in crate::history) fn line_at(&mut self, start: u64) -> io::Result<Vec<u8>> {
        self.0.seek(SeekFrom::Start(start))?;
        let mut line = Vec::new();
        self.line(&mut line)?;
        Ok(line)
    }

    /// Includes the line feed; empty at the end.
    pub(in crate::history) fn line(&mut self, line: &mut Vec<u8>) -> io::Result<()> {
        line.clear();
        (&mut self.0).take(LONGEST_LINE).read_until(b'\n', line)?;
        let is_too_long = line.len() as u64 == LONGEST_LINE;
        if is_too_long { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentProblem {
    pub segment: SegmentName,
    pub place: SegmentPlace,
    /// Relative to the project root with `/`, if below it.
    pub file: String,
    /// From 1.
    pub line: u64,
    /// In bytes.
    pub offset: u64,
    pub problem: LineProblem,
}

/// A [`LineProblem`] as indexed: its word, and the parser's reason, if any.
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
    /// `header`, `not-an-event`, `broken-chain`, `not-genuine`, `torn`, `misnamed`, `not-a-file`, `replaced`,
    /// `missing-parent`, `missing-segment` or `rewritten`.
    pub fn word(&self) -> &'static str {
        to_words(&self.problem).0
    }

    /// False for a torn last line of a live segment, which was never acknowledged, and for a missing event or
    /// segment, which an unshared clone may have.
    pub fn is_damage(&self) -> bool {
        match self.problem {
            LineProblem::Torn => self.place != SegmentPlace::Live,
            LineProblem::MissingParent { .. } | LineProblem::MissingSegment { .. } => false,
            _ => true,
        }
    }

    pub const fn is_gap(&self) -> bool {
        matches!(self.problem, LineProblem::MissingParent { .. } | LineProblem::MissingSegment { .. })
    }
}

pub(in crate::history) type NamedHeads = BTreeMap<SegmentHead, SegmentName>;

impl VerifiedSegments {
    /// Adds a problem for each of `named` that is not a segment's end; the first for each segment.
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

    fn problem(&self, root: &Root, head: &SegmentHead, by: SegmentName) -> SegmentProblem {
        let end = self.ends.get(&head.segment);
        let place = end.map_or(SegmentPlace::Sealed, |end| end.place);
        SegmentProblem {
            segment: head.segment.clone(),
            place,
            file: end.map_or_else(|| place.file_of(root, &head.segment), |end| end.file.clone()),
            line: end.map_or(1, |end| end.lines.max(1)),
            offset: end.map_or(0, |end| end.start),
            problem: match end {
                Some(_) => LineProblem::Rewritten { by },
                None => LineProblem::MissingSegment { by },
            },
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentEnd {
    pub place: SegmentPlace,
    pub file: String,
    pub last: stepmark_model::artifact::FileHash,
    pub lines: u64,
    /// In bytes.
    pub start: u64,
}

pub type SegmentEnds = BTreeMap<SegmentName, SegmentEnd>;

pub(crate) type JoinedSegments = BTreeMap<SegmentName, BTreeSet<SegmentName>>;

/// Segments by joined file. Skips unreadable files.
pub(crate) fn joined_segments(root: &Root) -> Result<JoinedSegments, Error> {
    let files = files::list_sealed(root)?.into_keys().filter(is_joined);
    let named = |file: SegmentName| Some((names_in(root, &file).ok()?, file));
    Ok(files.filter_map(named).map(|(names, file)| (file, names)).collect())
}

fn names_in(root: &Root, file: &SegmentName) -> io::Result<BTreeSet<SegmentName>> {
    let below = Path::new(SEALED_FOLDER).join(format!("{file}.jsonl"));
    let mut source = BufReader::new(own_file::open(root.path(), &below, Access::Read)?);
    let (mut names, mut line) = (BTreeSet::new(), Vec::new());
    while (&mut source).take(LONGEST_LINE).read_until(b'\n', &mut line)? > 0 {
        if line.starts_with(super::lines::HEADER_START)
            && let Ok((header, _)) = Header::read(without_line_end(&line))
        {
            names.extend(SegmentName::new(&header.segment));
        }
        line.clear();
    }
    Ok(names)
}

pub(crate) fn files_of_segment<'a>(
    segment: &'a SegmentName,
    joined: &'a JoinedSegments,
) -> impl Iterator<Item = ProjectPath> + 'a {
    let joined = joined.iter().filter(move |(_, names)| names.contains(segment)).map(|(file, _)| file);
    let files = std::iter::once(segment).chain(joined);
    files.filter_map(|file| ProjectPath::new(format!("{SEALED_FOLDER}/{file}.jsonl")).ok())
}
