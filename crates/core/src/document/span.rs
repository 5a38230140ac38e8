//! Where something stands in the bytes of a file.

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

    /// Whether the span holds no byte.
    pub const fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// How many bytes the span holds.
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether all of `other` lies inside.
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

/// The starts of all lines of a file, to turn offsets into positions.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
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
        Self { starts }
    }

    /// The position of the byte at `offset` of the same `bytes`; an offset past the end is the end.
    pub fn position(&self, bytes: &[u8], offset: usize) -> Position {
        let offset = offset.min(bytes.len());
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let before = &bytes[self.starts[line]..offset];
        let mut column = String::from_utf8_lossy(before).chars().count() + 1;
        if line == 0 && before.starts_with(b"\xEF\xBB\xBF") {
            column -= 1;
        }
        Position { line: line + 1, column }
    }
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
    fn a_byte_order_mark_takes_no_column() {
        let text = b"\xEF\xBB\xBF---\n";
        assert_eq!(LineIndex::new(text).position(text, 3).to_string(), "1:1");
    }
}
