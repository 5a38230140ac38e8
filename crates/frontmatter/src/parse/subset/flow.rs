//! Lists in brackets and maps in braces, on one line.

use super::{
    Reader,
    inline::{blanks, starts_plain},
};
use crate::{CollectionStyle, Entry, Node, NodeKind};

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
