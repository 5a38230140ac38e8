//! Places as SARIF counts them: lines and columns from 1, columns in UTF-16 code units; paths as relative URI
//! references (RFC 3986); and the fingerprint that a result is recognised by in the next run, after lines
//! before it came or went.

use std::collections::HashMap;

use serde::Serialize;

use super::CheckedFile;
use stepmark_frontmatter::{LineIndex, Span};
use stepmark_model::{artifact::FileHash, check::Finding};

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

/// The characters that stand for themselves in any part of a path: unreserved ones, and the sub-delimiters
/// that no reader gives a meaning. A colon would make a scheme of the first part.
const fn stands_for_itself(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/' | b'@' | b'+' | b',' | b'=')
}

pub(super) fn relative(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if stands_for_itself(byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// The name of the fingerprint; another way to compute it gets another number.
pub(super) const KEY: &str = "stepmarkFinding/v1";

pub(super) struct Fingerprints<'f> {
    bytes: &'f [u8],
    /// The number of findings so far that looked the same.
    seen: HashMap<FileHash, usize>,
}

impl<'f> Fingerprints<'f> {
    pub(super) fn of(file: &CheckedFile<'f>) -> Self {
        Self { bytes: file.bytes, seen: HashMap::new() }
    }

    /// SHA-256 over rule, path, message and the text that the finding is about, and its number among those
    /// that are the same.
    pub(super) fn next(&mut self, finding: &Finding) -> String {
        let end = finding.span.end.min(self.bytes.len());
        let about = &self.bytes[finding.span.start.min(end)..end];
        let parts =
            [finding.rule.id.as_bytes(), finding.path.as_str().as_bytes(), finding.message.as_bytes(), about];
        let hash = FileHash::of(&parts.join(&b'\0'));
        let number = self.seen.entry(hash).or_default();
        *number += 1;
        format!("{hash}:{number}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepmark_frontmatter::Span;
    use stepmark_model::{artifact::ProjectPath, check::rule_of};

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

    #[test]
    fn what_a_uri_cannot_hold_is_encoded() {
        for (path, uri) in [
            ("_bmad-output/prd.md", "_bmad-output/prd.md"),
            ("a b/ü%.md", "a%20b/%C3%BC%25.md"),
            ("c:d/e?f#g.md", "c%3Ad/e%3Ff%23g.md"),
            ("\\.md", "%5C.md"),
        ] {
            assert_eq!(relative(path), uri);
        }
    }

    fn fingerprints(text: &str) -> Vec<String> {
        let path = ProjectPath::new("a.md").unwrap();
        let rule = rule_of("SM106").unwrap();
        let found =
            text.match_indices('k').map(|(at, _)| Finding::new(rule, &path, Span::new(at, at + 1), "m"));
        let file = CheckedFile { path: &path, bytes: text.as_bytes(), findings: found.collect() };
        let mut fingerprints = Fingerprints::of(&file);
        file.findings.iter().map(|finding| fingerprints.next(finding)).collect()
    }

    #[test]
    fn lines_before_a_finding_do_not_matter() {
        assert_eq!(fingerprints("k: 1\n"), fingerprints("x: 1\ny: 2\nk: 3\n"));
    }

    #[test]
    fn findings_that_look_the_same_are_told_apart() {
        let twice = fingerprints("k\nk\n");
        assert_ne!(twice[0], twice[1]);
        assert_eq!(twice[0], fingerprints("k")[0]);
    }
}
