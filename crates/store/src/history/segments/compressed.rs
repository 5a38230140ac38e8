//! Segments as gzip files: one file of several members, each of which can be read on its own.

use std::io::{self, BufRead, Read, Write};

use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};

/// The size of a member before compression, in bytes: no more is read to find the start of an event.
const MEMBER_SIZE: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::history) struct Member {
    /// In bytes of what is not compressed; in a pack, of the segment: what stands before it may begin the
    /// member.
    pub(in crate::history) start: i64,
    pub(in crate::history) compressed: u64,
}

/// Reads all members one after the other and remembers where they start.
pub(in crate::history) struct Members<R> {
    source: Option<GzDecoder<Counted<R>>>,
    read: u64,
    members: Vec<Member>,
}

/// A reader that knows how far it has been read.
pub(in crate::history) struct Counted<R> {
    inner: R,
    read: u64,
}

impl<R> Counted<R> {
    pub(in crate::history) const fn new(inner: R) -> Self {
        Self { inner, read: 0 }
    }

    /// Returns the number of bytes that were read.
    pub(in crate::history) const fn read(&self) -> u64 {
        self.read
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.read += amount as u64;
        self.inner.consume(amount);
    }
}

impl<R: BufRead> Members<R> {
    pub(in crate::history) fn new(source: R) -> Self {
        let source = GzDecoder::new(Counted::new(source));
        Self { source: Some(source), read: 0, members: vec![Member { start: 0, compressed: 0 }] }
    }

    pub(in crate::history) fn members(&self) -> &[Member] {
        &self.members
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty()
            && let Some(mut member) = self.source.take()
        {
            let read = member.read(buffer)?;
            if read > 0 {
                self.source = Some(member);
                self.read += read as u64;
                return Ok(read);
            }
            let mut rest = member.into_inner();
            if !rest.fill_buf()?.is_empty() {
                self.members.push(Member { start: self.read.cast_signed(), compressed: rest.read });
                self.source = Some(GzDecoder::new(rest));
            }
        }
        Ok(0)
    }
}

pub(in crate::history) fn read_member(source: impl BufRead) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(source).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Compresses a segment into `file`, of which one member at a time is held. The same bytes give the same
/// file.
pub fn compress(mut segment: impl Read, mut file: impl Write) -> io::Result<()> {
    let mut member = Vec::with_capacity(MEMBER_SIZE);
    loop {
        member.clear();
        segment.by_ref().take(MEMBER_SIZE as u64).read_to_end(&mut member)?;
        if member.is_empty() {
            return Ok(());
        }
        let mut encoder = GzEncoder::new(&mut file, Compression::default());
        encoder.write_all(&member)?;
        encoder.finish()?;
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, io::BufReader};

    use super::*;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        compress(text, &mut file).unwrap();
        file
    }

    /// Gives bytes that hardly compress, and takes bytes: both count how many were read and not written yet.
    struct Pipe<'a> {
        left: u64,
        held: &'a Cell<u64>,
        most: &'a Cell<u64>,
    }

    impl Read for Pipe<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = (buffer.len() as u64).min(self.left);
            for byte in buffer.iter_mut().take(usize::try_from(count).unwrap()) {
                self.left -= 1;
                // Steele and Vigna's mixing of a counter.
                let mixed = self.left.wrapping_mul(0x9E37_79B9_7F4A_7C15);
                *byte = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9).to_be_bytes()[0];
            }
            self.held.set(self.held.get() + count);
            self.most.set(self.most.get().max(self.held.get()));
            Ok(usize::try_from(count).unwrap())
        }
    }

    impl Write for Pipe<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.held.set(self.held.get().saturating_sub(bytes.len() as u64));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_more_than_a_member_is_held() {
        let (held, most) = (Cell::new(0), Cell::new(0));
        let pipe = |left| Pipe { left, held: &held, most: &most };
        compress(pipe(3_000_000), pipe(0)).unwrap();
        assert!(most.get() <= 2 * MEMBER_SIZE as u64, "{}", most.get());
    }

    #[test]
    fn members_are_found_and_read_on_their_own() {
        let text: Vec<u8> = (0..40_000).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
        let file = compressed(&text);
        let mut reader = Members::new(BufReader::new(&file[..]));
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert!(read == text);
        assert_eq!(reader.members().len(), text.len().div_ceil(MEMBER_SIZE));
        for member in reader.members() {
            let part = read_member(&file[usize::try_from(member.compressed).unwrap()..]).unwrap();
            let start = usize::try_from(member.start).unwrap();
            assert!(text[start..].starts_with(&part) && !part.is_empty());
        }
        let mut all = Vec::new();
        flate2::read::MultiGzDecoder::new(&file[..]).read_to_end(&mut all).unwrap();
        assert!(all == text, "any gzip reads it");
    }

    #[test]
    fn what_is_cut_off_or_no_gzip_is_an_error() {
        let file = compressed(b"line\n");
        for bytes in [&file[..file.len() - 3], b"plain text, not compressed"] {
            assert!(Members::new(bytes).read_to_end(&mut Vec::new()).is_err());
        }
        assert_eq!(compressed(b""), b"");
    }
}
