//! The subset of YAML in which most frontmatter is written, read in one pass over its lines.
//!
//! **Flow.** Block maps of plain and quoted keys; their values are scalars of one line, flow collections of
//! such scalars on one line, literal or folded text, block lists of all these and of maps, or block maps
//! again; comments and blank lines. **Guarantee.** What is read here is read by the full parser to the same
//! tree, with the same spans and styles; whatever is not certain to be is left to it. **Why.** It takes a
//! fifth of the full parser's time, and reading all artifacts of a project is most of what `status` and
//! `check` do. Edits are planned and proven by the full parser alone
//! (`docs/adr/0005-a-subset-read-in-one-pass.md`).

mod inline;
mod block;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod agreement_cases;

use std::borrow::Cow;

use inline::Line;

use super::{LIMITS, Tree};
use crate::{Node, NodeKind, ScalarStyle, Span};

/// A key may have this many bytes here: far within the 1024 that YAML allows to a key without `?`.
const KEY_LENGTH: usize = 128;

/// Reads `text`, whose spans are moved by `base`; `None` for whatever is not certain to be within the subset.
pub(super) fn read(text: &str, base: usize) -> Option<Tree<'_>> {
    // Without an early end the check takes many bytes at a time.
    let is_plain_ascii = text.bytes().fold(true, |holds, byte| holds & is_ordinary(byte));
    if !is_plain_ascii && !text.chars().all(is_printable) {
        return None;
    }
    // A carriage return is a line break by itself where no line feed follows (YAML 1.2.2, §5.4).
    if memchr::memchr_iter(b'\r', text.as_bytes()).any(|at| text.as_bytes().get(at + 1) != Some(&b'\n')) {
        return None;
    }
    let mut reader = Reader { text, base, at: 0, nodes: 0 };
    let first = reader.peek()?;
    if first.indent > 0 {
        return None;
    }
    let root = reader.mapping(0, 0)?;
    let is_whole = reader.peek().is_none() && reader.nodes <= LIMITS.nodes;
    is_whole.then(|| Tree { root: Some(root), documents: 1, comments: Vec::new() })
}

/// Printable ASCII, or of a line break. Tabs have rules of their own.
fn is_ordinary(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\r')
}

/// The same beyond ASCII, without what some readers take for a line break or for no text (YAML 1.2.2, §5.1
/// and §5.4).
fn is_printable(character: char) -> bool {
    match character {
        ..='\u{7F}' => u8::try_from(character).is_ok_and(is_ordinary),
        '\u{80}'..='\u{9F}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFF}' => false,
        _ => true,
    }
}

/// The state of reading. Offsets are bytes of the text; only the spans of nodes count bytes of the file.
struct Reader<'a> {
    text: &'a str,
    /// The offset of the text in the file.
    base: usize,
    /// The start of the line that is read next.
    at: usize,
    /// The number of nodes that were made.
    nodes: usize,
}

impl<'a> Reader<'a> {
    /// The next line that is neither blank nor a comment; it stays the next one.
    fn peek(&mut self) -> Option<Line> {
        loop {
            let line = Line::at(self.text.as_bytes(), self.at)?;
            match self.text.as_bytes().get(line.content) {
                Some(b'#' | b'\r' | b'\n') | None => self.at = line.next,
                Some(_) => return Some(line),
            }
        }
    }

    /// The number of bytes from `start` on that may be a key: it is a key if a colon or an end follows.
    /// Letters, digits and `_-` only, and no digit or dash first.
    fn key_length(&self, start: usize, end: usize) -> Option<usize> {
        let bytes = &self.text.as_bytes()[start..end];
        let starts_well = bytes.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
        let of_key = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let length = bytes.iter().take(KEY_LENGTH + 1).take_while(of_key).count();
        (starts_well && length <= KEY_LENGTH).then_some(length)
    }

    /// The place behind `node`.
    fn behind(&self, node: &Node<'_>) -> usize {
        node.span.end - self.base
    }

    fn node(&mut self, start: usize, end: usize, kind: NodeKind<'a>) -> Node<'a> {
        self.nodes += 1;
        Node { span: Span::new(start, end).shifted(self.base), kind, properties: None }
    }

    fn scalar(&mut self, style: ScalarStyle, start: usize, end: usize, text: Cow<'a, str>) -> Node<'a> {
        self.node(start, end, NodeKind::Scalar { style, text })
    }

    /// The text from `start` to `end` as an unquoted scalar.
    fn plain(&mut self, start: usize, end: usize) -> Node<'a> {
        let text = self.text;
        self.scalar(ScalarStyle::Plain, start, end, text[start..end].into())
    }

    /// The value of a key that ends at `at` and has none.
    fn empty(&mut self, at: usize) -> Node<'a> {
        self.plain(at, at)
    }
}
