//! Nodes behind a colon or a dash on the same line.

use super::{Reader, block_scalar::Header};
use crate::{Node, ScalarStyle};

/// The rest of a line.
pub(super) enum Inline<'a> {
    /// Blanks, perhaps a comment.
    Nothing,
    /// A value, perhaps a comment.
    Value(Node<'a>),
    /// `|` or `>`: text on the lines below.
    Header(Header),
}

pub(super) fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == b' ').count()
}

/// Returns whether `rest`, which follows a value, holds nothing but blanks and a comment that a blank sets
/// off.
pub(super) fn is_over(rest: &[u8]) -> bool {
    let blanks = blanks(rest);
    rest.get(blanks).is_none_or(|byte| *byte == b'#' && blanks > 0)
}

/// Letters, digits, and signs that have no meaning to YAML at the start of a value; a minus before one of the
/// first two (YAML 1.2.2, §7.3.3).
pub(super) fn starts_plain(bytes: &[u8]) -> bool {
    match bytes.first() {
        Some(b'-') => bytes.get(1).is_some_and(u8::is_ascii_alphanumeric),
        Some(b'_' | b'.' | b'/' | b'~' | b'(' | b'$' | b'+') => true,
        Some(byte) => byte.is_ascii_alphanumeric() || !byte.is_ascii(),
        None => false,
    }
}

impl<'a> Reader<'a> {
    /// Reads the rest of a line, `start..end`, which starts with a blank unless it is empty; `None` for
    /// whatever is not certain to be a whole value.
    pub(super) fn inline(&mut self, start: usize, end: usize) -> Option<Inline<'a>> {
        let bytes = self.text.as_bytes();
        let start = start + blanks(&bytes[start..end]);
        let node = match bytes[start..end].first() {
            None | Some(b'#') => return Some(Inline::Nothing),
            Some(b'[') => self.flow_list(start, end, 0)?,
            Some(b'{') => self.flow_map(start, end, 0)?,
            Some(b'\'' | b'"') => self.quoted(start, end)?,
            Some(b'|' | b'>') => return Header::of(&bytes[start..end]).map(Inline::Header),
            Some(_) => return self.plain_line(start, end).map(Inline::Value),
        };
        is_over(&bytes[self.behind(&node)..end]).then_some(Inline::Value(node))
    }

    /// An unquoted scalar up to the end of the line or a comment.
    fn plain_line(&mut self, start: usize, end: usize) -> Option<Node<'a>> {
        let bytes = &self.text.as_bytes()[start..end];
        if !starts_plain(bytes) {
            return None;
        }
        let mut length = bytes.len();
        for at in memchr::memchr2_iter(b':', b'#', bytes) {
            if bytes[at] == b'#' && bytes[at - 1] == b' ' {
                length = at;
                break;
            }
            // A key of a map inside, or an error.
            if bytes[at] == b':' && matches!(bytes.get(at + 1), None | Some(b' ')) {
                return None;
            }
        }
        let length = bytes[..length].trim_ascii_end().len();
        Some(self.plain(start, start + length))
    }

    /// A quoted scalar that ends before `end`. Escapes with a backslash are left to the full parser.
    pub(super) fn quoted(&mut self, start: usize, end: usize) -> Option<Node<'a>> {
        let end = start + self.quoted_length(start, end)?;
        let text = self.text;
        let content = &text[start + 1..end - 1];
        if text.as_bytes()[start] == b'"' {
            return Some(self.scalar(ScalarStyle::DoubleQuoted, start, end, content.into()));
        }
        let content = match memchr::memchr(b'\'', content.as_bytes()) {
            Some(_) => content.replace("''", "'").into(),
            None => content.into(),
        };
        Some(self.scalar(ScalarStyle::SingleQuoted, start, end, content))
    }

    /// The length of the quoted scalar at `start`, with its quotes.
    pub(super) fn quoted_length(&self, start: usize, end: usize) -> Option<usize> {
        let bytes = &self.text.as_bytes()[start + 1..end];
        if self.text.as_bytes()[start] == b'"' {
            return memchr::memchr2(b'"', b'\\', bytes).filter(|at| bytes[*at] == b'"').map(|at| at + 2);
        }
        let mut quotes = memchr::memchr_iter(b'\'', bytes);
        loop {
            let at = quotes.next()?;
            if bytes.get(at + 1) != Some(&b'\'') {
                return Some(at + 2);
            }
            quotes.next();
        }
    }
}
