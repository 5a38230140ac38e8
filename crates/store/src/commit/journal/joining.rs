//! Segments on their way into a pack: read wherever they stand, compared, and written together.
#![expect(clippy::disallowed_methods, reason = "an edge module: segments are read and replaced here")]

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, BufRead, BufReader, Cursor, Read, Write},
    path::{Path, PathBuf},
};

use flate2::bufread::MultiGzDecoder;

use crate::commit::{FsyncPolicy, file::flush_folder, file::write_anew, journal::lone_segments};
use crate::disk::{own_file, own_file::Access, own_file::read_bounded};
use crate::history::{
    MOST_SEGMENTS, PACK_ENDING, PackReader, PackedSegment, is_packable, pack, pack_contents,
};
use stepmark_model::{
    artifact::FileHash,
    journal::{Header, SegmentName},
};

pub(in crate::commit) const PLAIN: &str = ".jsonl";
pub(in crate::commit) const COMPRESSED: &str = ".jsonl.gz";

/// The place of a segment: a file of its own, or a pack.
pub(in crate::commit) enum Source {
    Alone(String),
    Packed(String, PackedSegment),
}

impl Source {
    pub(in crate::commit) fn into_pack(self) -> Option<String> {
        match self {
            Self::Alone(_) => None,
            Self::Packed(file, _) => Some(file),
        }
    }

    /// The bytes of the segment; `None` where there are too many for a pack.
    pub(in crate::commit) fn read(&self, folder: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
        let read = match self {
            Self::Packed(file, segment) => read_bounded(PackReader::new(open(folder, file)?, segment)?, most),
            Self::Alone(file) if file.ends_with(COMPRESSED) => {
                read_bounded(MultiGzDecoder::new(BufReader::new(open(folder, file)?)), most)
            }
            Self::Alone(file) => read_bounded(open(folder, file)?, most),
        };
        match read {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Ok(None),
            read => read.map(Some),
        }
    }
}

/// Segments on their way into a pack.
pub(in crate::commit) struct Joining<'a> {
    pub(in crate::commit) folder: &'a Path,
    pub(in crate::commit) fsync: FsyncPolicy,
    /// The number of bytes of segments that make a pack full.
    pub(in crate::commit) full: u64,
    waiting: Vec<(SegmentName, Vec<u8>)>,
    size: u64,
    /// The files of their own in which those that wait stand.
    replaced: Vec<PathBuf>,
    /// The packs that were written, or were there as they would be.
    pub(in crate::commit) made: BTreeSet<String>,
}

impl<'a> Joining<'a> {
    /// With no segments yet.
    pub(in crate::commit) const fn new(folder: &'a Path, fsync: FsyncPolicy, full: u64) -> Self {
        Self {
            folder,
            fsync,
            full,
            waiting: Vec::new(),
            size: 0,
            replaced: Vec::new(),
            made: BTreeSet::new(),
        }
    }

    /// Takes the segment that stands in `sources`, the first of which is a full pack where it `is_full`.
    /// Returns whether it need not stay in the others.
    pub(in crate::commit) fn add(
        &mut self,
        name: &SegmentName,
        sources: &[Source],
        is_full: bool,
    ) -> io::Result<bool> {
        let mut bytes: Option<Vec<u8>> = None;
        for source in sources {
            match source.read(self.folder, self.full) {
                Ok(Some(read)) if bytes.as_ref().is_none_or(|bytes| *bytes == read) => bytes = Some(read),
                Ok(None) if bytes.is_none() => {
                    return lone_segments::compress_alone(self.folder, name, self.fsync);
                }
                // What is damaged, or not the same, stays for `doctor`.
                Ok(_) | Err(_) => return Ok(false),
            }
        }
        let Some(bytes) = bytes.filter(|bytes| is_segment(bytes)) else { return Ok(false) };
        if !is_full && !is_packable(&bytes) {
            return lone_segments::compress_alone(self.folder, name, self.fsync);
        }
        let alone = sources.iter().filter_map(|source| match source {
            Source::Alone(file) => Some(self.folder.join(file)),
            Source::Packed(..) => None,
        });
        if is_full {
            alone.into_iter().try_for_each(fs::remove_file)?;
            return Ok(true);
        }
        self.replaced.extend(alone);
        self.size += bytes.len() as u64;
        self.waiting.push((name.clone(), bytes));
        if self.size >= self.full || self.waiting.len() == MOST_SEGMENTS {
            self.write()?;
        }
        Ok(true)
    }

    pub(in crate::commit) fn write(&mut self) -> io::Result<()> {
        let mut segments = std::mem::take(&mut self.waiting);
        // What happened at one time has much in common.
        segments.sort_by(|(_, one), (_, other)| began(one).cmp(&began(other)));
        self.size = 0;
        if segments.is_empty() {
            return Ok(());
        }
        let bytes = pack(&segments)?;
        let file = format!("{}{PACK_ENDING}", FileHash::of(&bytes));
        if !is_pack_of(open(self.folder, &file), &segments) {
            let staged = format!(".{file}.tmp");
            write_anew(&self.folder.join(&staged), self.fsync, |file| file.write_all(&bytes))?;
            if !is_pack_of(open(self.folder, &staged), &segments) {
                return Err(io::Error::other("what was written does not lead back to the segments"));
            }
            fs::rename(self.folder.join(&staged), self.folder.join(&file))?;
            flush_folder(self.folder, self.fsync)?;
        }
        self.made.insert(file);
        std::mem::take(&mut self.replaced).into_iter().try_for_each(fs::remove_file)
    }
}

/// Returns whether the file holds these segments and no others.
fn is_pack_of(file: io::Result<File>, segments: &[(SegmentName, Vec<u8>)]) -> bool {
    let read = || -> io::Result<bool> {
        let mut bytes = Vec::new();
        file?.read_to_end(&mut bytes)?;
        let contents = pack_contents(&bytes[..])?;
        let mut is_same = contents.len() == segments.len();
        for (listed, (name, wanted)) in contents.iter().zip(segments) {
            let mut found = Vec::new();
            PackReader::new(Cursor::new(&bytes), listed)?.read_to_end(&mut found)?;
            is_same &= listed.name == *name && found == *wanted;
        }
        Ok(is_same)
    };
    read().unwrap_or(false)
}

/// The time when the first event of a segment happened, as it is written.
fn began(segment: &[u8]) -> Option<&[u8]> {
    const TIME: &[u8] = b"\"at\":\"";
    let at = segment.windows(TIME.len()).position(|bytes| bytes == TIME)? + TIME.len();
    segment[at..].split(|byte| *byte == b'"').next()
}

/// Returns whether the bytes begin as those of a segment do.
fn is_segment(bytes: &[u8]) -> bool {
    let mut first = Vec::new();
    let read = BufReader::new(bytes).read_until(b'\n', &mut first);
    read.is_ok() && first.strip_suffix(b"\n").is_some_and(|line| Header::read(line).is_ok())
}

pub(in crate::commit) fn open(folder: &Path, file: &str) -> io::Result<File> {
    own_file::open(folder, file.as_ref(), Access::Read)
}
