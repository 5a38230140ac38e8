//! Maps and lists of lines.

use super::{
    KEY_LENGTH, Reader,
    inline::{Inline, Line, blanks, is_over},
};
use crate::{CollectionStyle, Entry, Node, NodeKind, ScalarStyle};

/// The deepest nesting of maps here; deeper ones are rare.
const DEPTH: usize = 8;

/// The usual number of entries in the map of a whole frontmatter.
const USUAL_ENTRIES: usize = 12;

impl<'a> Reader<'a> {
    /// The map whose keys stand at `indent`, of which the next line is the first.
    pub(super) fn mapping(&mut self, indent: usize, depth: usize) -> Option<Node<'a>> {
        let first = self.peek()?;
        self.mapping_from(Line { indent, ..first }, depth)
    }

    /// The map whose first entry is `first`, at whose indentation its other keys stand.
    fn mapping_from(&mut self, first: Line, depth: usize) -> Option<Node<'a>> {
        if depth > DEPTH {
            return None;
        }
        // Room in advance for one map only: a hostile file holds a hundred thousand small ones.
        let mut entries = if depth == 0 { Vec::with_capacity(USUAL_ENTRIES) } else { Vec::new() };
        entries.push(self.entry(first, depth)?);
        while let Some(line) = self.peek().filter(|line| line.indent >= first.indent) {
            if line.indent > first.indent {
                return None;
            }
            entries.push(self.entry(line, depth)?);
        }
        let end = self.behind(&entries.last()?.value);
        Some(self.node(first.content, end, NodeKind::Mapping { style: CollectionStyle::Block, entries }))
    }

    /// The key at the start of `line` and its value, there or on the lines below.
    fn entry(&mut self, line: Line, depth: usize) -> Option<Entry<'a>> {
        let key = self.key(line.content, line.end)?;
        let colon = self.behind(&key);
        let value = self.inline(colon + 1, line.end)?;
        self.at = line.next;
        let value = match value {
            Inline::Value(node) => node,
            Inline::Nothing => self.below(line.indent, depth, colon)?,
            Inline::Header(header) => self.block_scalar(header, line.indent)?,
        };
        Some(Entry { key, value })
    }

    /// The key that starts at `start`, if a colon follows it and behind that a blank or nothing.
    fn key(&mut self, start: usize, end: usize) -> Option<Node<'a>> {
        let bytes = self.text.as_bytes();
        let is_quoted = matches!(bytes.get(start), Some(b'\'' | b'"'));
        let length = if is_quoted { None } else { Some(self.key_length(start, end)?) };
        let colon = match length {
            Some(length) => start + length,
            None => start + self.quoted_length(start, end).filter(|length| *length <= KEY_LENGTH)?,
        };
        let is_key = bytes[colon..end].first() == Some(&b':')
            && matches!(bytes[colon + 1..end].first(), None | Some(b' '));
        match length {
            _ if !is_key => None,
            Some(_) => Some(self.plain(start, colon)),
            None => self.quoted(start, end),
        }
    }

    /// The node on the lines below a key at `indent` that ends at `key_end` and has nothing behind its colon.
    fn below(&mut self, indent: usize, depth: usize, key_end: usize) -> Option<Node<'a>> {
        match self.peek() {
            Some(next) if next.indent >= indent && self.is_item(next) => self.sequence(next, indent, depth),
            Some(next) if next.indent > indent => self.mapping(next.indent, depth + 1),
            _ => Some(self.empty(key_end)),
        }
    }

    fn is_item(&self, line: Line) -> bool {
        self.text[line.content..line.end].starts_with("- ")
    }

    /// The list that starts with the line `first`, below a key at `key_indent`. It ends before a line that
    /// stands further left, or is no item: then a key of the map around it, or nothing that this reader
    /// takes.
    fn sequence(&mut self, first: Line, key_indent: usize, depth: usize) -> Option<Node<'a>> {
        let mut items: Vec<Node<'a>> = Vec::new();
        while let Some(line) = self.peek().filter(|line| line.indent >= first.indent && self.is_item(*line)) {
            if line.indent > first.indent {
                return None;
            }
            items.push(self.item(line, depth)?);
        }
        // Where the dashes are not indented, the full parser lets the list begin behind the first.
        let behind_dash = self.behind_dash(first);
        let start = if first.indent > key_indent { first.content } else { behind_dash };
        let end = self.behind(items.last()?);
        Some(self.node(start, end, NodeKind::Sequence { style: CollectionStyle::Block, items }))
    }

    fn behind_dash(&self, line: Line) -> usize {
        line.content + 1 + blanks(&self.text.as_bytes()[line.content + 1..line.end])
    }

    /// The item behind the dash of `line`: a value on that line, text on the lines below, or a map that
    /// begins behind the dash.
    fn item(&mut self, line: Line, depth: usize) -> Option<Node<'a>> {
        let content = self.behind_dash(line);
        let nodes = self.nodes;
        let is_map = self.key(content, line.end).is_some();
        self.nodes = nodes;
        if is_map {
            return self.mapping_from(
                Line { indent: line.indent + content - line.content, content, ..line },
                depth + 1,
            );
        }
        let value = self.inline(content, line.end)?;
        self.at = line.next;
        match value {
            Inline::Value(node) => Some(node),
            Inline::Header(header) => self.block_scalar(header, line.indent),
            Inline::Nothing => None,
        }
    }
}

/// The header of a block scalar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    style: ScalarStyle,
    chomping: Chomping,
}

/// The line breaks at the end that belong to the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chomping {
    /// None.
    Strip,
    /// One.
    Clip,
    /// All.
    Keep,
}

impl Header {
    /// The header that `line` starts with; one that says how far the text is indented is left to the full
    /// parser.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let style = if line.first() == Some(&b'>') { ScalarStyle::Folded } else { ScalarStyle::Literal };
        let (chomping, rest) = match line.get(1) {
            Some(b'-') => (Chomping::Strip, &line[2..]),
            Some(b'+') => (Chomping::Keep, &line[2..]),
            _ => (Chomping::Clip, &line[1..]),
        };
        is_over(rest).then_some(Self { style, chomping })
    }
}

impl<'a> Reader<'a> {
    /// The text below a header whose key or dash stands at `indent`. It ends before the first line that
    /// stands no further right than `indent`; one in between, an empty text and a last line without a break
    /// are left to the full parser.
    pub(super) fn block_scalar(&mut self, header: Header, indent: usize) -> Option<Node<'a>> {
        let bytes = self.text.as_bytes();
        let is_blank = |line: &Line| line.content == line.end;
        let (mut folded, mut depth) = (Folded::new(header), None);
        let (mut start, mut end) = (self.at, self.at);
        while let Some(line) = Line::at(bytes, self.at) {
            if !is_blank(&line) && line.indent <= indent {
                // The full parser has looked so far when it knows.
                end = line.content;
                break;
            }
            let first = match depth {
                None if is_blank(&line) => line.indent + 1,
                None => {
                    start = line.content;
                    *depth.insert(line.indent)
                }
                Some(depth) => depth,
            };
            if is_blank(&line) && line.indent <= first {
                if line.next <= bytes.len() {
                    folded.blank_line(depth.is_none().then_some(line.indent));
                }
                end = line.next.min(bytes.len());
            } else if line.indent < first || line.next > bytes.len() {
                return None;
            } else {
                let from = line.content - (line.indent - first);
                folded.line(&self.text[from..line.end]);
                end = line.next;
            }
            self.at = line.next;
        }
        let text = folded.finish(depth?)?;
        Some(self.scalar(header.style, start, end, text.into()))
    }
}

/// Text that is put together from its lines.
struct Folded {
    header: Header,
    text: String,
    /// Some line stands in the text, whose break is not in it yet.
    has_line: bool,
    /// The last line starts with a blank: its breaks are kept.
    is_indented: bool,
    /// Blank lines behind it.
    blank_lines: usize,
    /// The most blanks of a blank line before the first line.
    widest: usize,
}

impl Folded {
    const fn new(header: Header) -> Self {
        Self { header, text: String::new(), has_line: false, is_indented: false, blank_lines: 0, widest: 0 }
    }

    /// Takes a line without text; `width` is given before the first line that has some.
    fn blank_line(&mut self, width: Option<usize>) {
        self.blank_lines += 1;
        self.widest = self.widest.max(width.unwrap_or_default());
    }

    fn line(&mut self, line: &str) {
        let is_indented = line.starts_with(' ');
        let is_folded = self.header.style == ScalarStyle::Folded && !self.is_indented && !is_indented;
        match (self.has_line, is_folded) {
            (true, true) if self.blank_lines == 0 => self.text.push(' '),
            (true, false) => self.text.push('\n'),
            _ => {}
        }
        self.breaks();
        self.text.push_str(line);
        (self.has_line, self.is_indented) = (true, is_indented);
    }

    fn breaks(&mut self) {
        self.text.extend(std::iter::repeat_n('\n', std::mem::take(&mut self.blank_lines)));
    }

    /// The text, whose lines are indented by `depth`; `None` where a blank line before them was wider.
    fn finish(mut self, depth: usize) -> Option<String> {
        if self.header.chomping != Chomping::Strip {
            self.text.push('\n');
        }
        if self.header.chomping == Chomping::Keep {
            self.breaks();
        }
        (self.widest <= depth).then_some(self.text)
    }
}
