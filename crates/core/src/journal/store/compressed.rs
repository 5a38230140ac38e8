//! Segments as gzip files: one file of several members, each of which can be read on its own.

use std::io::{self, BufRead, Read, Write};

use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};

/// How many bytes a member holds before compression: what must be read at most to find one event.
const MEMBER_SIZE: usize = 64 * 1024;

/// Where a member starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// In bytes of what is not compressed.
    pub(super) start: u64,
    /// In the file.
    pub(super) compressed: u64,
}

/// Reads all members one after the other and remembers where they start.
pub(super) struct Members<R> {
    source: Option<GzDecoder<Counted<R>>>,
    read: u64,
    members: Vec<Member>,
}

/// A reader that knows how far it has been read.
struct Counted<R> {
    inner: R,
    read: u64,
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
    /// From the start of the file.
    pub(super) fn new(source: R) -> Self {
        let source = GzDecoder::new(Counted { inner: source, read: 0 });
        Self { source: Some(source), read: 0, members: vec![Member { start: 0, compressed: 0 }] }
    }

    /// The members that were reached.
    pub(super) fn members(&self) -> &[Member] {
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
                self.members.push(Member { start: self.read, compressed: rest.read });
                self.source = Some(GzDecoder::new(rest));
            }
        }
        Ok(0)
    }
}

/// Reads one member, to its end.
pub(super) fn read_member(source: impl BufRead) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(source).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Compresses a segment. The same bytes give the same file.
///
/// # Errors
/// None that writing to memory has.
pub fn compress(segment: &[u8]) -> io::Result<Vec<u8>> {
    let mut file = Vec::new();
    for member in segment.chunks(MEMBER_SIZE) {
        let mut encoder = GzEncoder::new(file, Compression::default());
        encoder.write_all(member)?;
        file = encoder.finish()?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn members_are_found_and_read_on_their_own() {
        let text: Vec<u8> = (0..40_000).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
        let file = compress(&text).unwrap();
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
        let file = compress(b"line\n").unwrap();
        for bytes in [&file[..file.len() - 3], b"plain text, not compressed"] {
            assert!(Members::new(bytes).read_to_end(&mut Vec::new()).is_err());
        }
        assert_eq!(compress(b"").unwrap(), b"");
    }
}
