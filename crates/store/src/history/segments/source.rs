//! A segment read from its start, compressed or not.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
};

use crate::disk::root::Root;
use crate::history::{
    HistoryError, SegmentFile, SegmentPlace, index::Fault, segments::LONGEST_LINE, segments::Member,
    segments::Members, segments::PackReader, segments::files,
};

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
    ///
    /// # Errors
    /// When the file is gone ([`Fault::Stale`]) or cannot be opened.
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

    /// The line that starts at `start`, with its line feed.
    pub(in crate::history) fn line_at(&mut self, start: u64) -> io::Result<Vec<u8>> {
        self.skip_to(start)?;
        let mut line = Vec::new();
        self.reader().read_until(b'\n', &mut line)?;
        self.position += line.len() as u64;
        Ok(line)
    }

    /// Reads the next line into `line`, with its line feed; nothing at the end.
    ///
    /// # Errors
    /// When it cannot be read, or is longer than any line of a segment.
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
