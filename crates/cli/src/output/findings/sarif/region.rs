//! Places as SARIF counts them: lines and columns from 1, columns in UTF-16 code units.

use serde::Serialize;
use stepmark_frontmatter::{LineIndex, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum Region {
    /// Of its text; the end column is behind the last character.
    #[serde(rename_all = "camelCase")]
    Text { start_line: usize, start_column: usize, end_line: usize, end_column: usize },
    #[serde(rename_all = "camelCase")]
    Bytes { byte_offset: usize, byte_length: usize },
}

/// The lines of a file, to turn offsets into places.
pub(super) struct RegionIndex<'f> {
    bytes: &'f [u8],
    lines: LineIndex,
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl<'f> RegionIndex<'f> {
    pub(super) fn new(bytes: &'f [u8]) -> Self {
        Self { bytes, lines: LineIndex::new(bytes) }
    }

    pub(super) fn region(&self, span: Span) -> Region {
        let (start_line, start_column) = self.place(span.start);
        let (end_line, end_column) = self.place(span.end.max(span.start));
        Region::Text { start_line, start_column, end_line, end_column }
    }

    /// The place of what a fix replaces: that of the text, or of the bytes where a byte order mark, which is
    /// no text, is a part.
    pub(super) fn replaced(&self, span: Span) -> Region {
        if self.bytes.starts_with(BYTE_ORDER_MARK) && span.start < BYTE_ORDER_MARK.len() {
            return Region::Bytes { byte_offset: span.start, byte_length: span.len() };
        }
        self.region(span)
    }

    fn place(&self, offset: usize) -> (usize, usize) {
        let place = self.lines.position_in_utf16(self.bytes, offset);
        (place.line, place.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, needle: &str) -> (usize, usize) {
        RegionIndex::new(text.as_bytes()).place(text.find(needle).unwrap())
    }

    #[test]
    fn columns_count_utf16_code_units() {
        for (text, expected) in [
            ("x", (1, 1)),
            ("a\nbx", (2, 2)),
            ("a\r\n🦀éx", (2, 4)),
            ("a\r\rx", (3, 1)),
            ("\u{FEFF}abx", (1, 3)),
            ("a\n\u{FEFF}x", (2, 2)),
        ] {
            assert_eq!(place(text, "x"), expected, "{text:?}");
        }
        assert_eq!(RegionIndex::new(b"a\n").place(99), (2, 1));
        assert_eq!(RegionIndex::new(b"\xFF\xFEx").place(2), (1, 3));
    }

    #[test]
    fn a_byte_order_mark_is_replaced_by_bytes() {
        let index = RegionIndex::new(b"\xEF\xBB\xBFab");
        assert_eq!(index.replaced(Span::new(0, 3)), Region::Bytes { byte_offset: 0, byte_length: 3 });
        let text = Region::Text { start_line: 1, start_column: 1, end_line: 1, end_column: 2 };
        assert_eq!(index.replaced(Span::new(3, 4)), text);
    }
}
