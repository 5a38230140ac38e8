//! Packs: many sealed segments in one file.
//!
//! `.stepmark/journal/HASH.pack.gz` is a gzip file of several members, named by the SHA-256 of its bytes. The
//! first member is one line of JSON, the [`Contents`]: which segments follow, and where. The others hold the
//! lines of the segments, one segment behind the other. A line leaves out its `prev` where that is the hash
//! of the line before it in the same member: hashes do not compress, and this one can be made again. So each
//! member can be read on its own, and what is read is the segment as it was sealed, byte for byte.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};
use serde::{Deserialize, Serialize};

use crate::disk::own_file::read_bounded;
use crate::history::{segments::Counted, segments::Member, segments::without_line_end};
use stepmark_model::artifact::FileHash;
use stepmark_model::journal::SegmentName;

pub const PACK_ENDING: &str = ".pack.gz";

const FORMAT: &str = "journal-pack/1";
/// The number of bytes of segments that a member holds, up to the end of the line that reaches it.
const MEMBER_SIZE: usize = 32 * 1024;
/// A segment with a longer line stays in a file of its own, so that a member is never much larger.
const LONGEST_LINE: usize = 64 * 1024;
const LARGEST_MEMBER: usize = 2 * (MEMBER_SIZE + LONGEST_LINE);
pub const MOST_SEGMENTS: usize = 500;
/// The segments of a pack have at most so many bytes.
pub const LARGEST_PACK: u64 = 8 * 1024 * 1024;
/// The contents have at most so many bytes: a name has 120.
const LARGEST_CONTENTS: u64 = 200 * MOST_SEGMENTS as u64;

/// The beginning of a line that names the one before, and of one that does not.
const NAMED: &[u8] = b"{\"prev\":\"";
const BEHIND_NAME: &[u8] = b"\",";
const SHORT: &[u8] = b"{\"event\":";
/// The number of digits of a hash.
const DIGITS: usize = 64;

/// The first line of a pack.
#[derive(Debug, Serialize, Deserialize)]
struct Contents {
    /// The format: `journal-pack/1`.
    stepmark: String,
    segments: Vec<Listed>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Listed {
    segment: String,
    /// The size of the segment as it was sealed.
    bytes: u64,
    /// The member in which it begins, counted in bytes of the file from the end of the first member.
    member: u64,
    /// The number of bytes of that member, with all that was left out, that stand before it.
    skip: u64,
}

impl Listed {
    /// Returns whether it begins where `other` ends, or in a later member.
    const fn is_behind(&self, other: &Self) -> bool {
        self.member > other.member
            || (self.member == other.member && self.skip == other.skip.saturating_add(other.bytes))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedSegment {
    pub name: SegmentName,
    /// Its size as it was sealed.
    pub bytes: u64,
    /// The start of the member in which it begins.
    member: u64,
    /// The number of bytes of that member that stand before it.
    skip: u64,
}

/// Returns whether the segment with these bytes can stand in a pack.
pub fn is_packable(segment: &[u8]) -> bool {
    segment.ends_with(b"\n")
        && segment
            .split(|byte| *byte == b'\n')
            .all(|line| line.len() < LONGEST_LINE && !line.starts_with(SHORT))
}

/// The pack of `segments`, each of which [is packable](is_packable). The same segments in the same order give
/// the same bytes.
pub fn pack(segments: &[(SegmentName, Vec<u8>)]) -> io::Result<Vec<u8>> {
    let (mut listed, mut packed) = (Vec::with_capacity(segments.len()), Vec::new());
    let mut member = OpenMember::default();
    for (name, bytes) in segments {
        if member.size >= MEMBER_SIZE {
            member.finish(&mut packed)?;
        }
        let (segment, skip) = (name.to_string(), member.size as u64);
        listed.push(Listed { segment, bytes: bytes.len() as u64, member: packed.len() as u64, skip });
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if member.size >= MEMBER_SIZE {
                member.finish(&mut packed)?;
            }
            member.add(line);
        }
    }
    member.finish(&mut packed)?;
    let contents = Contents { stepmark: FORMAT.to_owned(), segments: listed };
    let mut first = serde_json::to_vec(&contents)?;
    first.push(b'\n');
    let mut file = compressed(&first)?;
    file.extend(packed);
    Ok(file)
}

#[derive(Default)]
struct OpenMember {
    text: Vec<u8>,
    /// The number of bytes of the lines with all that is left out.
    size: usize,
    last: Option<FileHash>,
}

impl OpenMember {
    fn add(&mut self, line: &[u8]) {
        match self.last.and_then(|last| without_name(line, last)) {
            Some(rest) => {
                self.text.push(b'{');
                self.text.extend(rest);
            }
            None => self.text.extend(line),
        }
        self.size += line.len();
        self.last = Some(FileHash::of(without_line_end(line)));
    }

    fn finish(&mut self, packed: &mut Vec<u8>) -> io::Result<()> {
        let member = std::mem::take(self);
        if !member.text.is_empty() {
            packed.extend(compressed(&member.text)?);
        }
        Ok(())
    }
}

/// Returns the rest of a line behind the name of the line before, which is `last`.
fn without_name(line: &[u8], last: FileHash) -> Option<&[u8]> {
    let (name, rest) = line.strip_prefix(NAMED)?.split_at_checked(DIGITS)?;
    let rest = rest.strip_prefix(BEHIND_NAME).filter(|_| name == last.to_string().as_bytes())?;
    // Read again, it must begin as no other line does.
    rest.starts_with(&SHORT[1..]).then_some(rest)
}

fn compressed(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text)?;
    encoder.finish()
}

/// Lists the segments that stand in the pack `file`, which is read from its start.
pub fn contents(file: impl BufRead) -> io::Result<Vec<PackedSegment>> {
    let mut member = GzDecoder::new(Counted::new(file));
    let first = read_bounded(&mut member, LARGEST_CONTENTS)?;
    let behind = member.into_inner().read();
    let contents: Contents = serde_json::from_slice(&first)?;
    if contents.stepmark != FORMAT || contents.segments.len() > MOST_SEGMENTS {
        return Err(damaged("it does not begin as a pack of this version does"));
    }
    if !contents.segments.is_sorted_by(|one, next| next.is_behind(one)) {
        return Err(damaged("its first line has segments that overlap"));
    }
    let segment = |listed: Listed| {
        let name = SegmentName::new(&listed.segment).filter(|_| listed.skip <= MEMBER_SIZE as u64)?;
        let member = behind.checked_add(listed.member)?;
        Some(PackedSegment { name, bytes: listed.bytes, member, skip: listed.skip })
    };
    // Nobody has to read more than that, whatever the places are.
    if contents.segments.iter().fold(0_u64, |sum, listed| sum.saturating_add(listed.bytes)) > LARGEST_PACK {
        return Err(damaged("it is larger than any that is written"));
    }
    let segments: Option<Vec<PackedSegment>> = contents.segments.into_iter().map(segment).collect();
    segments.ok_or_else(|| damaged("its first line names what is no segment"))
}

/// Reads one member of a pack with all that was left out, at least as far as `wanted` bytes of it.
pub(in crate::history) fn read_member(source: impl BufRead, wanted: u64) -> io::Result<Vec<u8>> {
    // What is left out makes the text shorter than what it stands for.
    let text = read_bounded(GzDecoder::new(source).take(wanted), LARGEST_MEMBER as u64)?;
    let mut whole = Vec::with_capacity(2 * text.len());
    let mut last = None;
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let start = whole.len();
        match last.filter(|_| line.starts_with(SHORT)) {
            Some(last) => {
                whole.extend(NAMED);
                whole.extend(FileHash::to_string(&last).as_bytes());
                whole.extend(BEHIND_NAME);
                whole.extend(&line[1..]);
            }
            None => whole.extend(line),
        }
        if whole.len() >= wanted {
            break;
        }
        if whole.len() > LARGEST_MEMBER {
            return Err(damaged("a part of it is larger than any that is written"));
        }
        last = Some(FileHash::of(without_line_end(&whole[start..])));
    }
    Ok(whole)
}

fn damaged(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// The bytes of one segment of a pack, as it was sealed.
pub struct PackReader<R> {
    file: BufReader<R>,
    /// The start of the next member.
    next: u64,
    /// The last member that was read, and how far.
    member: Vec<u8>,
    taken: usize,
    /// The number of bytes before the segment in its first member.
    skip: u64,
    /// The number of bytes of the segment that were given, and of those that are to come.
    given: u64,
    left: u64,
    members: Vec<Member>,
}

impl<R: Read + Seek> PackReader<R> {
    pub fn new(mut file: R, segment: &PackedSegment) -> io::Result<Self> {
        file.seek(SeekFrom::Start(segment.member))?;
        Ok(Self {
            file: BufReader::new(file),
            next: segment.member,
            member: Vec::new(),
            taken: 0,
            skip: segment.skip,
            given: 0,
            left: segment.bytes,
            members: Vec::new(),
        })
    }

    pub(in crate::history) fn members(&self) -> &[Member] {
        &self.members
    }

    fn read_next(&mut self) -> io::Result<()> {
        let skip = std::mem::take(&mut self.skip);
        self.members.push(Member {
            start: self.given.cast_signed().saturating_sub(skip.cast_signed()),
            compressed: self.next,
        });
        let mut counted = Counted::new(&mut self.file);
        self.member = read_member(&mut counted, skip.saturating_add(self.left))?;
        self.next += counted.read();
        self.taken = usize::try_from(skip).unwrap_or(usize::MAX).min(self.member.len());
        if self.taken == self.member.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }
}

impl<R: Read + Seek> BufRead for PackReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            return Ok(&[]);
        }
        if self.taken == self.member.len() {
            self.read_next()?;
        }
        let rest = &self.member[self.taken..];
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(rest.len());
        Ok(&rest[..wanted])
    }

    fn consume(&mut self, amount: usize) {
        self.taken += amount;
        self.given += amount as u64;
        self.left = self.left.saturating_sub(amount as u64);
    }
}

impl<R: Read + Seek> Read for PackReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;
    use stepmark_model::journal::{Actor, Event, EventDraft, Header, Kind};

    fn name(number: usize) -> SegmentName {
        SegmentName::new(&format!("s-{number:04}")).unwrap()
    }

    fn segment(number: usize, count: u32) -> Vec<u8> {
        let (mut bytes, mut chain) = Header::new(&name(number), None).line();
        for at in 0..count {
            bytes.extend(chain.add(&event(at)));
        }
        bytes
    }

    fn event(at: u32) -> Event {
        let draft = EventDraft::new(Kind::CHECKPOINT).with("at", at);
        Event::new(draft, Actor::human("Ada"), "2026-11-22T10:00:00Z".parse().unwrap()).sealed()
    }

    fn unpacked(file: &[u8]) -> Vec<(SegmentName, Vec<u8>)> {
        let read = |segment: PackedSegment| {
            let mut bytes = Vec::new();
            PackReader::new(Cursor::new(file), &segment).unwrap().read_to_end(&mut bytes).unwrap();
            (segment.name, bytes)
        };
        contents(file).unwrap().into_iter().map(read).collect()
    }

    #[test]
    fn segments_come_out_as_they_went_in() {
        let segments: Vec<_> = (0..40).map(|number| (name(number), segment(number, 60))).collect();
        assert!(segments.iter().all(|(_, bytes)| is_packable(bytes)));
        let file = pack(&segments).unwrap();
        assert!(unpacked(&file) == segments);
        let whole: Vec<u8> = segments.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        let mut plain = GzEncoder::new(Vec::new(), Compression::best());
        plain.write_all(&whole).unwrap();
        let plain = plain.finish().unwrap().len();
        assert!(file.len() * 10 < plain * 7, "{} against {plain}", file.len());
    }

    proptest! {
        #[test]
        fn whatever_the_lines_are(texts in prop::collection::vec(prop::collection::vec(line(), 0..20), 1..6)) {
            let segments: Vec<_> = texts.iter().enumerate().map(|(number, lines)| {
                (name(number), lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect::<Vec<u8>>())
            }).filter(|(_, bytes)| is_packable(bytes)).collect();
            let file = pack(&segments).unwrap();
            prop_assert_eq!(unpacked(&file), segments);
        }
    }

    /// Lines that look like those of a segment, of other ones, and of none.
    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z{}\":,\\\\]{0,30}",
            Just(String::new()),
            Just("{\"event\":{}}".to_owned()),
            (0..3u8).prop_map(|byte| format!("{{\"prev\":\"{}\",\"event\":1}}", FileHash::of(&[byte]))),
            Just(format!("{{\"prev\":\"{}\",\"event\":1}}\r", FileHash::of(b"x"))),
            Just("x".to_owned()),
        ]
    }

    #[test]
    fn what_is_damaged_is_an_error() {
        let segments = [(name(1), segment(1, 900)), (name(2), segment(2, 3))];
        let file = pack(&segments).unwrap();
        for cut in [0, 10, file.len() / 2, file.len() - 1] {
            let cut = &file[..cut];
            let Ok(listed) = contents(cut) else { continue };
            let read = |segment: &PackedSegment| {
                PackReader::new(Cursor::new(cut), segment)
                    .and_then(|mut reader| reader.read_to_end(&mut Vec::new()))
            };
            assert!(listed.iter().any(|segment| read(segment).is_err()));
        }
        assert!(
            contents(&compressed(b"{\"stepmark\":\"journal-pack/2\",\"segments\":[]}").unwrap()[..]).is_err()
        );
        // A small file that would become a large one.
        let bomb = compressed(&"{\"event\":\n".repeat(LARGEST_MEMBER / 10).into_bytes()).unwrap();
        assert!(read_member(&bomb[..], u64::MAX).is_err());
        assert!(contents(&compressed(&vec![b' '; 10_000_000]).unwrap()[..]).is_err());
    }

    #[test]
    fn a_chain_that_is_broken_stays_so() {
        let mut bytes = segment(1, 2);
        let place = bytes.len() - 300;
        bytes[place] ^= 1;
        let segments = [(name(1), bytes)];
        assert!(unpacked(&pack(&segments).unwrap()) == segments);
    }
}
