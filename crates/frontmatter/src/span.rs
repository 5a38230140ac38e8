//! Spans and positions in the bytes of a file.

use std::ops::Range;

/// A half-open range of byte offsets in the bytes of a whole file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte; equal to `start` for a place between two bytes.
    pub end: usize,
}

impl Span {
    /// The span of the bytes `start..end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The place before the byte at `offset`.
    pub const fn at(offset: usize) -> Self {
        Self { start: offset, end: offset }
    }

    /// The offsets as a range, to slice with.
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns whether the span holds no byte.
    pub const fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// The number of bytes the span holds.
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Returns whether all of `other` lies inside.
    pub const fn holds(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The same span with both ends moved `by` bytes to the right.
    pub const fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start, end: range.end }
    }
}

/// A place as an editor shows it. Both numbers count from 1; the column counts characters (Unicode scalar
/// values), and a byte that is no UTF-8 counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1. Lines end at LF, at CRLF and at a lone CR.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl std::fmt::Display for Position {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}", self.line, self.column)
    }
}

/// The starts of all lines of a file, to turn offsets into positions. A position takes a bounded number of
/// steps however long its line is.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
    /// Inside of long lines, in order.
    marks: Vec<Mark>,
}

/// A place inside of a long line, and what stands before it on the line.
#[derive(Clone, Copy, Debug)]
struct Mark {
    offset: usize,
    before: Width,
}

/// The length of a text.
#[derive(Clone, Copy, Debug, Default)]
struct Width {
    characters: usize,
    utf16: usize,
}

/// Bytes between two marks of a long line.
const MARK_DISTANCE: usize = 4096;

impl Width {
    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (characters, utf16) = text.chars().fold((0, 0), |(one, two), c| (one + 1, two + c.len_utf16()));
        Self { characters, utf16 }
    }

    const fn and(self, other: Self) -> Self {
        Self { characters: self.characters + other.characters, utf16: self.utf16 + other.utf16 }
    }
}

impl LineIndex {
    /// Finds the line starts of `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
                continue;
            }
            starts.push(at + 1);
        }
        let mut marks = Vec::new();
        for (line, start) in starts.iter().enumerate() {
            let end = starts.get(line + 1).copied().unwrap_or(bytes.len());
            let mut mark = Mark { offset: *start, before: Width::default() };
            while let Some(next) = character_at(bytes, mark.offset + MARK_DISTANCE).filter(|next| *next < end)
            {
                mark = Mark { offset: next, before: mark.before.and(Width::of(&bytes[mark.offset..next])) };
                marks.push(mark);
            }
        }
        Self { starts, marks }
    }

    /// The position of the byte at `offset` of the same `bytes`; an offset past the end is the end.
    pub fn position(&self, bytes: &[u8], offset: usize) -> Position {
        let (line, width) = self.place(bytes, offset);
        Position { line, column: width.characters + 1 }
    }

    /// The same with the column in UTF-16 code units, as editors and SARIF count.
    pub fn position_in_utf16(&self, bytes: &[u8], offset: usize) -> Position {
        let (line, width) = self.place(bytes, offset);
        Position { line, column: width.utf16 + 1 }
    }

    /// The start of the line with `number`, from 1; the last one's start for a number past the end.
    pub fn start_of(&self, number: usize) -> usize {
        let last = self.starts.len() - 1;
        self.starts[number.saturating_sub(1).min(last)]
    }

    /// The line, from 1, and what stands before `offset` on it.
    fn place(&self, bytes: &[u8], offset: usize) -> (usize, Width) {
        let offset = offset.min(bytes.len());
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let start = self.starts[line];
        let mark = self.marks.partition_point(|mark| mark.offset <= offset).checked_sub(1);
        let mark = mark.map(|at| self.marks[at]).filter(|mark| mark.offset > start);
        let mark = mark.unwrap_or(Mark { offset: start, before: Width::default() });
        let mut width = mark.before.and(Width::of(&bytes[mark.offset..offset]));
        if line == 0 && bytes[..offset].starts_with(b"\xEF\xBB\xBF") {
            width.characters -= 1;
            width.utf16 -= 1;
        }
        (line + 1, width)
    }
}

/// The first byte from `offset` on that starts a character.
fn character_at(bytes: &[u8], offset: usize) -> Option<usize> {
    let rest = bytes.get(offset..)?;
    rest.iter().position(|byte| byte & 0xC0 != 0x80).map(|at| offset + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_of_every_kind_and_characters() {
        let text = "a\r\nbé!\rc\n\nd".as_bytes();
        let index = LineIndex::new(text);
        let at = |needle: u8| {
            let offset = text.iter().position(|byte| *byte == needle).unwrap();
            index.position(text, offset).to_string()
        };
        assert_eq!([at(b'a'), at(b'b'), at(b'!'), at(b'c'), at(b'd')], ["1:1", "2:1", "2:3", "3:1", "5:1"]);
        assert_eq!(index.position(text, 999).to_string(), "5:2");
    }

    #[test]
    fn columns_of_long_lines_are_counted_from_the_nearest_mark() {
        let text = format!("a\n\u{FEFF}{}\n{}", "\u{1F600}é.".repeat(20_000), "b".repeat(10_000));
        let index = LineIndex::new(text.as_bytes());
        for offset in [0, 2, 5, 6, 4090, 4097, 8195, 70_000, 139_998, 140_005, 149_000, text.len()] {
            let offset = (0..=offset).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            let line = text[..offset].rfind('\n').map_or(0, |at| at + 1);
            let position = |column| Position { line: text[..offset].matches('\n').count() + 1, column };
            let before = &text[line..offset];
            assert_eq!(index.position(text.as_bytes(), offset), position(before.chars().count() + 1));
            let utf16 = position(before.encode_utf16().count() + 1);
            assert_eq!(index.position_in_utf16(text.as_bytes(), offset), utf16, "{offset}");
        }
        let invalid = [b"\x80".repeat(9000), b"\n".to_vec()].concat();
        assert_eq!(LineIndex::new(&invalid).position(&invalid, 9000).column, 9001);
    }

    /// A place on a long line is found without reading the line again.
    #[test]
    fn many_places_on_one_line_are_found() {
        let line = "x".repeat(1 << 20);
        let index = LineIndex::new(line.as_bytes());
        let columns = (0..line.len()).step_by(8).map(|at| index.position(line.as_bytes(), at).column);
        assert!(columns.enumerate().all(|(place, column)| column == 8 * place + 1));
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let text = b"\xEF\xBB\xBF---\n";
        assert_eq!(LineIndex::new(text).position(text, 3).to_string(), "1:1");
    }
}
