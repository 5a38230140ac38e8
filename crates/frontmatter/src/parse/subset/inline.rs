//! Nodes behind a colon or a dash on the same line.

use super::{Reader, block::Header};
use crate::{CollectionStyle, Entry, Node, NodeKind, ScalarStyle};

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

/// The deepest nesting here.
const DEPTH: usize = 8;

impl<'a> Reader<'a> {
    /// The flow list that starts at `start` and ends before `end`.
    pub(super) fn flow_list(&mut self, start: usize, end: usize, depth: usize) -> Option<Node<'a>> {
        let mut items = Vec::new();
        let mut at = start + 1;
        let closing = loop {
            at = self.behind_blanks(at, end);
            if self.byte(at, end)? == b']' {
                break at;
            }
            let item = self.flow_value(at, end, depth)?;
            at = self.behind_blanks(self.behind(&item), end);
            items.push(item);
            match self.byte(at, end)? {
                b',' => at += 1,
                b']' => break at,
                _ => return None,
            }
        };
        let kind = NodeKind::Sequence { style: CollectionStyle::Flow, items };
        Some(self.node(start, closing + 1, kind))
    }

    /// The flow map that starts at `start` and ends before `end`. A key without colon and value is one of a
    /// map too, as in `{ system-date }`.
    pub(super) fn flow_map(&mut self, start: usize, end: usize, depth: usize) -> Option<Node<'a>> {
        let mut entries = Vec::new();
        let mut at = start + 1;
        let closing = loop {
            at = self.behind_blanks(at, end);
            if self.byte(at, end)? == b'}' {
                break at;
            }
            let entry = self.flow_entry(at, end, depth)?;
            at = self.behind_blanks(self.behind(&entry.value), end);
            entries.push(entry);
            match self.byte(at, end)? {
                b',' => at += 1,
                b'}' => break at,
                _ => return None,
            }
        };
        let kind = NodeKind::Mapping { style: CollectionStyle::Flow, entries };
        Some(self.node(start, closing + 1, kind))
    }

    fn flow_entry(&mut self, start: usize, end: usize, depth: usize) -> Option<Entry<'a>> {
        let colon = start + self.key_length(start, end)?;
        let key = self.plain(start, colon);
        let value = if self.text.as_bytes()[colon..end].starts_with(b": ") {
            let value = self.behind_blanks(colon + 1, end);
            self.flow_value(value, end, depth)?
        } else {
            self.empty(colon)
        };
        Some(Entry { key, value })
    }

    fn flow_value(&mut self, start: usize, end: usize, depth: usize) -> Option<Node<'a>> {
        match self.byte(start, end)? {
            b'[' | b'{' if depth == DEPTH => None,
            b'[' => self.flow_list(start, end, depth + 1),
            b'{' => self.flow_map(start, end, depth + 1),
            _ => self.flow_scalar(start, end),
        }
    }

    /// A scalar inside a flow collection. A colon, a comment or a bracket in an unquoted one is left to the
    /// full parser.
    fn flow_scalar(&mut self, start: usize, end: usize) -> Option<Node<'a>> {
        let bytes = &self.text.as_bytes()[start..end];
        if matches!(bytes.first(), Some(b'\'' | b'"')) {
            return self.quoted(start, end);
        }
        if !starts_plain(bytes) {
            return None;
        }
        let ends = |byte: &u8| matches!(byte, b',' | b']' | b'[' | b'{' | b'}' | b':' | b'#');
        let length = bytes.iter().position(ends)?;
        if !matches!(bytes[length], b',' | b']' | b'}') {
            return None;
        }
        let length = bytes[..length].trim_ascii_end().len();
        Some(self.plain(start, start + length))
    }

    /// The byte at `at`, before `end`.
    fn byte(&self, at: usize, end: usize) -> Option<u8> {
        self.text.as_bytes()[..end].get(at).copied()
    }

    fn behind_blanks(&self, at: usize, end: usize) -> usize {
        at + blanks(&self.text.as_bytes()[at..end])
    }
}

/// A line of the text; all places count its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The number of spaces it starts with.
    pub(super) indent: usize,
    /// The offset of its first other byte; its end for a blank line.
    pub(super) content: usize,
    /// The offset of its line break; the end of the text for a last line without one.
    pub(super) end: usize,
    /// The start of the next line.
    pub(super) next: usize,
}

impl Line {
    /// The line that starts at `start`; `None` at the end of the text.
    pub(super) fn at(text: &[u8], start: usize) -> Option<Self> {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let feed = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let end = if rest[..feed].ends_with(b"\r") { feed - 1 } else { feed };
        let indent = rest[..end].iter().take_while(|byte| **byte == b' ').count();
        Some(Self { indent, content: start + indent, end: start + end, next: start + feed + 1 })
    }
}
