//! Spans and positions in the bytes of a file.

use std::{cell::RefCell, collections::HashMap, ops::Range};

use super::{Entry, Node, NodeKind, Segment};

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

/// The positions of all anchored nodes of a region, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Anchors {
    places: HashMap<Box<str>, Vec<Place>>,
}

/// The start of a node, and the child numbers that lead to it; those of a mapping count keys and values.
#[derive(Clone, Debug)]
struct Place {
    start: usize,
    way: Box<[usize]>,
}

impl Anchors {
    pub(super) fn of(root: &Node<'_>) -> Self {
        let mut found = Self::default();
        found.add(root, &mut Vec::new());
        found
    }

    fn add(&mut self, node: &Node<'_>, way: &mut Vec<usize>) {
        if let Some(name) = node.anchor() {
            let place = Place { start: node.outer_start(), way: way.as_slice().into() };
            self.places.entry(name.into()).or_default().push(place);
        }
        let children = node.items().len().max(2 * node.entries().len());
        for index in 0..children {
            if let Some(child) = child(node, index) {
                way.push(index);
                self.add(child, way);
                way.pop();
            }
        }
    }

    /// The node below `root` that an alias names: the last anchor of that name before it (YAML 1.2.2, §7.1).
    pub(super) fn target<'t, 'a>(&self, root: &'t Node<'a>, alias: &Node<'_>) -> Option<&'t Node<'a>> {
        let NodeKind::Alias { name } = &alias.kind else { return None };
        let places = self.places.get(&**name)?;
        let before = places.partition_point(|place| place.start < alias.span.start);
        let place = &places[before.checked_sub(1)?];
        place.way.iter().try_fold(root, |node, index| child(node, *index))
    }
}

fn child<'t, 'a>(node: &'t Node<'a>, index: usize) -> Option<&'t Node<'a>> {
    match &node.kind {
        NodeKind::Sequence { items, .. } => items.get(index),
        NodeKind::Mapping { entries, .. } => {
            let entry = entries.get(index / 2)?;
            Some(if index.is_multiple_of(2) { &entry.key } else { &entry.value })
        }
        NodeKind::Scalar { .. } | NodeKind::Alias { .. } => None,
    }
}

/// Among so few entries, comparing each with the key is faster than hashing them.
const FEW: usize = 32;

/// Remembers the keys of each large mapping that was asked for: a thousand questions read its entries once.
#[derive(Default)]
pub struct KeyIndex<'t> {
    /// By the address of the mapping's entries, which the tree keeps where they are.
    mappings: RefCell<HashMap<usize, HashMap<&'t str, KeyIndices>>>,
}

/// The indices of a key among the entries of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyIndices {
    /// The number of the first entry with the key.
    pub first: usize,
    /// The number of the last one.
    pub last: usize,
    /// The total number.
    pub count: usize,
}

impl KeyIndices {
    fn with(self, place: usize) -> Self {
        Self { last: place, count: self.count + 1, ..self }
    }
}

impl<'t> KeyIndex<'t> {
    /// The index of `key` in `entries`; `None` where it does not.
    pub fn find(&self, entries: &'t [Entry<'_>], key: &str) -> Option<KeyIndices> {
        let keys =
            || entries.iter().enumerate().filter_map(|(place, entry)| Some((place, entry.key.as_key()?)));
        let alone = |place| KeyIndices { first: place, last: place, count: 1 };
        if entries.len() <= FEW {
            let mut places = keys().filter(|(_, text)| *text == key).map(|(place, _)| place);
            let first = places.next()?;
            return Some(places.fold(alone(first), KeyIndices::with));
        }
        let mut mappings = self.mappings.borrow_mut();
        let mapping = mappings.entry(entries.as_ptr().addr()).or_insert_with(|| {
            let mut mapping: HashMap<&'t str, KeyIndices> = HashMap::with_capacity(entries.len());
            for (place, text) in keys() {
                mapping
                    .entry(text)
                    .and_modify(|found| *found = found.with(place))
                    .or_insert_with(|| alone(place));
            }
            mapping
        });
        mapping.get(key).copied()
    }

    /// The node at `path` below `root`; of a key that stands several times, the first.
    pub fn node_at<'a>(&self, root: &'t Node<'a>, path: &[Segment]) -> Option<&'t Node<'a>> {
        path.iter().try_fold(root, |node, segment| match segment {
            Segment::Key(key) => {
                let entries = node.entries();
                Some(&entries[self.find(entries, key)?.first].value)
            }
            Segment::Index(index) => node.items().get(*index),
        })
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

#[cfg(test)]
mod anchors_tests {
    use crate::{Node, Span, Yaml};

    #[test]
    fn an_alias_names_the_last_anchor_before_it() {
        let text = "a: &x 1\nb: *x\nc: &x [2]\nd: [*x, *y]\n? [&k 3]\n: *k\n";
        let yaml = Yaml::parse(text.as_bytes(), Span::new(0, text.len())).unwrap();
        let root = yaml.root().unwrap();
        let target = |alias: &Node<'_>| yaml.target(alias).map(|node| node.span.start);
        assert_eq!(target(root.get("b").unwrap()), Some(6));
        let last = root.get("d").unwrap().items();
        assert_eq!([target(&last[0]), target(&last[1]), target(root)], [Some(20), None, None]);
        assert_eq!(target(&root.entries()[4].value), text.find('3'));
    }

    /// The anchors are sought once, however many aliases there are.
    #[test]
    fn following_an_alias_visits_no_other() {
        let aliases: String = (0..100_000).map(|_| "- *x\n").collect();
        let text = format!("a: &x 1\nb:\n{aliases}");
        let yaml = Yaml::parse(text.as_bytes(), Span::new(0, text.len())).unwrap();
        let items = yaml.root().unwrap().get("b").unwrap().items();
        assert!(items.iter().all(|alias| yaml.target(alias).and_then(Node::text) == Some("1")));
        assert!(yaml.unresolved_aliases().is_empty());
    }
}

#[cfg(test)]
mod key_index_tests {
    use super::*;
    use crate::{KeyPath, Span, Yaml};

    #[test]
    fn small_and_large_mappings_answer_alike() {
        for size in [3, FEW + 1, 500] {
            let lines: String = (0..size).map(|at| format!("k{at}: {at}\n")).collect();
            let text = format!("k1: first\n{lines}");
            let yaml = Yaml::parse(text.as_bytes(), Span::new(0, text.len())).unwrap();
            let (root, index) = (yaml.root().unwrap(), KeyIndex::default());
            for _ in 0..2 {
                assert_eq!(
                    index.find(root.entries(), "k0"),
                    Some(KeyIndices { first: 1, last: 1, count: 1 })
                );
                assert_eq!(
                    index.find(root.entries(), "k1"),
                    Some(KeyIndices { first: 0, last: 2, count: 2 })
                );
                assert_eq!(index.find(root.entries(), "k"), None);
            }
            let path: KeyPath = "k1".parse().unwrap();
            assert_eq!(index.node_at(root, &path.0).and_then(Node::text), Some("first"));
            assert!(index.node_at(root, &[Segment::Index(0)]).is_none());
            assert_eq!(index.mappings.borrow().len(), usize::from(size >= FEW));
        }
    }
}
