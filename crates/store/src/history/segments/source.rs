//! A segment read from its start, compressed or not.

use crate::disk::file_stat::FileStat;
use crate::disk::own_file;
use crate::disk::own_file::Access;
use crate::disk::root::Root;
use crate::disk::uninterrupted::uninterrupted;
use crate::history::index::Fault;
use crate::history::segments::{
    LONGEST_LINE, Member, Members, PACK_ENDING, PackPlace, PackReader, PackedSegment, SEALED_FOLDER, files,
    is_absent, pack, sealed_folder,
};
use crate::history::{HistoryError, SegmentFile, SegmentPlace, VerifiedSegments};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::{fs, io};
use stepmark_model::artifact::ProjectPath;
use stepmark_model::journal::{LineProblem, SegmentHead, SegmentName};

/// The largest and the smallest number of bytes that are read at once. A commit reads one line after another
/// has grown the segment by one; a buffer of the largest size would cost more than that.
const LARGEST_BUFFER: usize = 256 * 1024;
const SMALLEST_BUFFER: usize = 4 * 1024;

/// The bytes of a segment, from its start on.
pub(in crate::history) struct SegmentSource {
    bytes: Bytes,
    position: u64,
}

enum Bytes {
    Plain(BufReader<File>),
    Compressed(Box<BufReader<Members<BufReader<File>>>>),
    Packed(Box<PackReader<File>>),
}

impl SegmentSource {
    /// Opens the segment, of which about `wanted` bytes will be read.
    pub(in crate::history) fn open(root: &Root, file: &SegmentFile, wanted: u64) -> Result<Self, Fault> {
        let buffer = usize::try_from(wanted).map_or(LARGEST_BUFFER, |wanted| wanted + 1);
        let buffer = buffer.clamp(SMALLEST_BUFFER, LARGEST_BUFFER);
        let failed = |source| HistoryError::Read { path: file.path(root), source };
        let opened = match file.open(root) {
            Err(error) if files::is_absent(&error) => return Err(Fault::Stale),
            opened => opened.map_err(failed)?,
        };
        if let Some(pack) = &file.pack {
            let reader = PackReader::new(opened, &pack.segment).map_err(failed)?;
            return Ok(Self { bytes: Bytes::Packed(Box::new(reader)), position: 0 });
        }
        let opened = BufReader::with_capacity(buffer, opened);
        let bytes = if file.place == SegmentPlace::Compressed {
            Bytes::Compressed(Box::new(BufReader::with_capacity(LARGEST_BUFFER, Members::new(opened))))
        } else {
            Bytes::Plain(opened)
        };
        Ok(Self { bytes, position: 0 })
    }

    /// A reader of what follows; lines read through it are not counted by [`SegmentSource::skip_to`].
    pub(in crate::history) fn reader(&mut self) -> &mut dyn BufRead {
        match &mut self.bytes {
            Bytes::Plain(file) => file,
            Bytes::Compressed(file) => &mut **file,
            Bytes::Packed(file) => &mut **file,
        }
    }

    /// Goes on to `start`, which is not before what was read.
    pub(in crate::history) fn skip_to(&mut self, start: u64) -> io::Result<()> {
        match &mut self.bytes {
            Bytes::Plain(file) => {
                if start != self.position {
                    file.seek(SeekFrom::Start(start))?;
                }
            }
            Bytes::Compressed(_) | Bytes::Packed(_) => {
                let skipped = start.saturating_sub(self.position);
                io::copy(&mut self.reader().take(skipped), &mut io::sink())?;
            }
        }
        self.position = start;
        Ok(())
    }

    pub(in crate::history) fn line_at(&mut self, start: u64) -> io::Result<Vec<u8>> {
        self.skip_to(start)?;
        let mut line = Vec::new();
        self.reader().read_until(b'\n', &mut line)?;
        self.position += line.len() as u64;
        Ok(line)
    }

    /// Reads the next line into `line`, with its line feed; nothing at the end.
    pub(in crate::history) fn line(&mut self, line: &mut Vec<u8>) -> io::Result<()> {
        line.clear();
        self.reader().take(LONGEST_LINE).read_until(b'\n', line)?;
        let is_too_long = line.len() as u64 == LONGEST_LINE;
        if is_too_long { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
    }

    /// The members that were reached; none where the segment is not compressed.
    pub(in crate::history) fn members(&self) -> &[Member] {
        match &self.bytes {
            Bytes::Plain(_) => &[],
            Bytes::Compressed(file) => file.get_ref().members(),
            Bytes::Packed(file) => file.members(),
        }
    }
}

/// Something wrong in a segment. The other events of the segment count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentProblem {
    pub segment: SegmentName,
    pub place: SegmentPlace,
    /// The path of its file: seen from the project root, with `/` between its parts, where it stands below
    /// the root.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
    /// The start of the line, in bytes of what is not compressed.
    pub offset: u64,
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

    pub const fn is_gap(&self) -> bool {
        matches!(self.problem, LineProblem::MissingParent { .. } | LineProblem::MissingSegment { .. })
    }
}

pub(in crate::history) type NamedHeads = BTreeMap<SegmentHead, SegmentName>;

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
    fn problem(&self, root: &Root, head: &SegmentHead, by: SegmentName) -> SegmentProblem {
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
    pub place: SegmentPlace,
    pub pack: Option<String>,
    /// The hash of the line.
    pub last: stepmark_model::artifact::FileHash,
    pub lines: u64,
    /// The start of the line, in bytes of what is not compressed.
    pub start: u64,
}

pub type SegmentEnds = BTreeMap<SegmentName, SegmentEnd>;

pub(in crate::history) type ReadPack = (String, io::Result<Vec<SegmentFile>>);

pub(in crate::history) fn packed_in(root: &Root, file: &str, stat: FileStat) -> io::Result<Vec<SegmentFile>> {
    let below = Path::new(SEALED_FOLDER).join(file);
    let packed =
        pack::contents(BufReader::new(own_file::open(root.path(), &below, Access::Read)?))?.into_iter();
    let in_pack = |segment: PackedSegment| SegmentFile {
        name: segment.name.clone(),
        place: SegmentPlace::Packed,
        pack: Some(PackPlace { file: file.to_owned(), segment }),
        stat,
    };
    Ok(packed.map(in_pack).collect())
}

/// The packs, by the names of their files, with the segments in each; those that cannot be read with the
/// reason.
pub(in crate::history) fn packs(root: &Root) -> Result<Vec<ReadPack>, HistoryError> {
    let failed = |source| HistoryError::Read { path: SEALED_FOLDER.to_owned(), source };
    let entries = match uninterrupted(|| fs::read_dir(sealed_folder(root))) {
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut packs = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let Some(file) =
            entry.file_name().to_str().filter(|name| name.ends_with(PACK_ENDING)).map(str::to_owned)
        else {
            continue;
        };
        if !file.starts_with('.') {
            let segments = entry.metadata().and_then(|found| packed_in(root, &file, FileStat::of(&found)));
            packs.push((file, segments));
        }
    }
    packs.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(packs)
}

/// The files that may hold a sealed segment: its own, plain or compressed, and those of `packs` that it is
/// in.
pub(crate) fn files_of_segment<'a>(
    segment: &'a SegmentName,
    packs: &'a BTreeMap<String, BTreeSet<SegmentName>>,
) -> impl Iterator<Item = ProjectPath> + 'a {
    let alone = ["jsonl", "jsonl.gz"].map(|ending| format!("{SEALED_FOLDER}/{segment}.{ending}"));
    let packs = packs.iter().filter(move |(_, names)| names.contains(segment)).map(|(path, _)| path.clone());
    alone.into_iter().chain(packs).filter_map(|path| ProjectPath::new(path).ok())
}

/// The segments in packs, by the paths of these below the project root. Packs that cannot be read are left
/// out.
pub(crate) fn packed_segments(root: &Root) -> Result<BTreeMap<String, BTreeSet<SegmentName>>, HistoryError> {
    let names = |(file, found): ReadPack| {
        let names = found.ok()?.into_iter().map(|packed| packed.name).collect();
        Some((format!("{SEALED_FOLDER}/{file}"), names))
    };
    Ok(packs(root)?.into_iter().filter_map(names).collect())
}
