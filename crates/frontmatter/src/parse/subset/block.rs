//! Maps and lists of lines.

use super::{Reader, inline::Inline, line::Line};
use crate::{CollectionStyle, Entry, Node, NodeKind};

/// How deep maps may stand inside each other here; deeper ones are rare.
const DEPTH: usize = 8;

/// How many entries the map of a whole frontmatter usually has.
const USUAL_ENTRIES: usize = 12;

impl<'a> Reader<'a> {
    /// The map whose keys stand at `indent`, of which the next line is the first.
    pub(super) fn mapping(&mut self, indent: usize, depth: usize) -> Option<Node<'a>> {
        if depth > DEPTH {
            return None;
        }
        let start = self.peek()?.content;
        // Room in advance for one map only: a hostile file holds a hundred thousand small ones.
        let mut entries = if depth == 0 { Vec::with_capacity(USUAL_ENTRIES) } else { Vec::new() };
        while let Some(line) = self.peek().filter(|line| line.indent >= indent) {
            if line.indent > indent {
                return None;
            }
            entries.push(self.entry(line, depth)?);
        }
        let end = self.behind(&entries.last()?.value);
        Some(self.node(start, end, NodeKind::Mapping { style: CollectionStyle::Block, entries }))
    }

    /// The key at the start of `line` and its value, there or on the lines below.
    fn entry(&mut self, line: Line, depth: usize) -> Option<Entry<'a>> {
        let colon = line.content + self.key_length(line.content, line.end)?;
        let behind = self.text[colon..line.end].strip_prefix(':')?;
        if !behind.is_empty() && !behind.starts_with(' ') {
            return None;
        }
        let key = self.plain(line.content, colon);
        let value = self.inline(colon + 1, line.end)?;
        self.at = line.next;
        let value = match value {
            Inline::Value(node) => node,
            Inline::Nothing => self.below(line.indent, depth, colon)?,
        };
        Some(Entry { key, value })
    }

    /// What stands on the lines below a key at `indent` that ends at `key_end` and has nothing behind its colon.
    fn below(&mut self, indent: usize, depth: usize, key_end: usize) -> Option<Node<'a>> {
        match self.peek() {
            Some(next) if next.indent >= indent && self.is_item(next) => self.sequence(next, indent),
            Some(next) if next.indent > indent => self.mapping(next.indent, depth + 1),
            _ => Some(self.empty(key_end)),
        }
    }

    fn is_item(&self, line: Line) -> bool {
        self.text[line.content..line.end].starts_with("- ")
    }

    /// The list that starts with the line `first`, below a key at `key_indent`. It ends before a line that stands further
    /// left, or is no item: then a key of the map around it, or nothing that this reader takes.
    fn sequence(&mut self, first: Line, key_indent: usize) -> Option<Node<'a>> {
        let mut items: Vec<Node<'a>> = Vec::new();
        while let Some(line) = self.peek().filter(|line| line.indent >= first.indent && self.is_item(*line)) {
            if line.indent > first.indent {
                return None;
            }
            let Inline::Value(node) = self.inline(line.content + 1, line.end)? else { return None };
            items.push(node);
            self.at = line.next;
        }
        // Where the dashes are not indented, the full parser lets the list begin behind the first.
        let behind_dash = items.first()?.span.start - self.base;
        let start = if first.indent > key_indent { first.content } else { behind_dash };
        let end = self.behind(items.last()?);
        Some(self.node(start, end, NodeKind::Sequence { style: CollectionStyle::Block, items }))
    }
}
