//! A path → the node it names, with the collections it lies in.

use std::collections::HashSet;

use super::{Context, Refusal};
use crate::{CollectionStyle, Entry, KeyPath, Node, NodeKind, ScalarStyle, Segment, Span, Yaml};

/// The place of a node in its collection.
#[derive(Clone, Copy)]
pub(super) struct Parent<'t, 'a> {
    pub(super) collection: &'t Node<'a>,
    pub(super) index: usize,
}

impl<'t, 'a> Parent<'t, 'a> {
    /// The entry of a mapping.
    pub(super) fn entry(&self) -> Option<&'t Entry<'a>> {
        match &self.collection.kind {
            NodeKind::Mapping { entries, .. } => entries.get(self.index),
            _ => None,
        }
    }
}

/// The node at a path.
pub(super) enum Found<'t, 'a> {
    /// A node; `parents` lead to it from the root.
    Node { node: &'t Node<'a>, parents: Vec<Parent<'t, 'a>> },
    /// Nothing: `deepest` (`None`: the region is empty) is the last node on the way, `missing` the keys below
    /// it.
    Absent { deepest: Option<&'t Node<'a>>, parents: Vec<Parent<'t, 'a>>, missing: Vec<String> },
}

/// Walks `path` from the root. Refuses duplicate keys, aliases, and anchors in use on the way.
pub(super) fn locate<'t, 'a>(
    context: &Context<'t, 'a>,
    path: &KeyPath,
) -> Result<Found<'t, 'a>, (Refusal, Span)> {
    let mut parents = Vec::new();
    let Some(mut node) = context.yaml.root() else {
        return Ok(Found::Absent { deepest: None, parents, missing: keys_of(&path.0, context.yaml.span())? });
    };
    for (depth, segment) in path.0.iter().enumerate() {
        refuse_shared(context, node)?;
        if node.is_null() {
            let missing = keys_of(&path.0[depth..], node.span)?;
            return Ok(Found::Absent { deepest: Some(node), parents, missing });
        }
        let Some(index) = child(context, node, segment, (path, depth))? else {
            let missing = keys_of(&path.0[depth..], node.span)?;
            return Ok(Found::Absent { deepest: Some(node), parents, missing });
        };
        parents.push(Parent { collection: node, index });
        node = match &node.kind {
            NodeKind::Mapping { entries, .. } => &entries[index].value,
            NodeKind::Sequence { items, .. } => &items[index],
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => node,
        };
    }
    // An alias of nothing shares nothing: `globs: **/*.ts`.
    let is_of_nothing = matches!(node.kind, NodeKind::Alias { .. }) && context.yaml.target(node).is_none();
    if !is_of_nothing {
        refuse_shared(context, node)?;
    }
    Ok(Found::Node { node, parents })
}

/// The place of `segment` in `node`; `None` when a mapping lacks the key.
fn child<'t>(
    context: &Context<'t, '_>,
    node: &'t Node<'_>,
    segment: &Segment,
    (path, depth): (&KeyPath, usize),
) -> Result<Option<usize>, (Refusal, Span)> {
    match (segment, &node.kind) {
        (Segment::Key(key), NodeKind::Mapping { entries, .. }) => entry(context, entries, key),
        // A JSON pointer writes a key that looks like a number as it writes the place of an item.
        (Segment::Index(index), NodeKind::Mapping { entries, .. }) => {
            match entry(context, entries, &index.to_string())? {
                Some(place) => Ok(Some(place)),
                None => Err((Refusal::NotAList, node.span)),
            }
        }
        (Segment::Key(_), _) => {
            let found = KeyPath(path.0[..depth].to_vec()).to_string();
            Err((Refusal::NotAMapping { found }, node.span))
        }
        (Segment::Index(index), NodeKind::Sequence { items, .. }) if *index < items.len() => Ok(Some(*index)),
        (Segment::Index(index), NodeKind::Sequence { items, .. }) => {
            Err((Refusal::NoSuchItem { index: *index, length: items.len() }, node.span))
        }
        (Segment::Index(_), _) => Err((Refusal::NotAList, node.span)),
    }
}

/// The place of the only entry under `key`.
fn entry<'t>(
    context: &Context<'t, '_>,
    entries: &'t [Entry<'_>],
    key: &str,
) -> Result<Option<usize>, (Refusal, Span)> {
    match context.keys.find(entries, key) {
        Some(found) if found.count > 1 => {
            let refusal = Refusal::DuplicateKey { key: key.to_owned(), count: found.count };
            Err((refusal, entries[found.last].key.span))
        }
        found => Ok(found.map(|found| found.first)),
    }
}

/// The missing rest of a path, which can only be keys: no list grows by naming a place in it.
fn keys_of(segments: &[Segment], span: Span) -> Result<Vec<String>, (Refusal, Span)> {
    let key = |segment: &Segment| match segment {
        Segment::Key(key) => Ok(key.clone()),
        Segment::Index(index) => Err((Refusal::NoSuchItem { index: *index, length: 0 }, span)),
    };
    segments.iter().map(key).collect()
}

/// Refuses a node that is an alias, or whose anchor an alias uses.
fn refuse_shared(context: &Context<'_, '_>, node: &Node<'_>) -> Result<(), (Refusal, Span)> {
    if let NodeKind::Alias { name } = &node.kind {
        return Err((Refusal::Alias { name: name.to_string() }, node.span));
    }
    match node.anchor() {
        Some(name) if is_used(context, name) => {
            Err((Refusal::AnchorInUse { name: name.to_owned() }, node.span))
        }
        _ => Ok(()),
    }
}

/// Refuses when a node inside `node` has an anchor that an alias outside of it may use.
pub(super) fn refuse_anchors_inside(
    context: &Context<'_, '_>,
    node: &Node<'_>,
) -> Result<(), (Refusal, Span)> {
    let mut anchored = node.descend().filter_map(|inner| Some((inner.anchor()?, inner.span))).peekable();
    if anchored.peek().is_none() {
        return Ok(());
    }
    match anchored.find(|(name, _)| is_used(context, name)) {
        Some((name, span)) => Err((Refusal::AnchorInUse { name: name.to_owned() }, span)),
        None => Ok(()),
    }
}

fn is_used(context: &Context<'_, '_>, anchor: &str) -> bool {
    context.aliases.get_or_init(|| aliases(context.yaml)).contains(anchor)
}

/// The names of all aliases of the region.
fn aliases<'t>(yaml: &'t Yaml<'_>) -> HashSet<&'t str> {
    let nodes = yaml.root().into_iter().flat_map(Node::descend);
    let names = nodes.filter_map(|node| match &node.kind {
        NodeKind::Alias { name } => Some(&**name),
        _ => None,
    });
    names.collect()
}

/// Start of the line that holds `offset`, not before `floor`.
pub(super) fn line_start(file: &[u8], offset: usize, floor: usize) -> usize {
    let before = &file[floor..offset];
    memchr::memrchr2(b'\n', b'\r', before).map_or(floor, |at| floor + at + 1)
}

/// End of the line that holds `offset`, without its line end, not after `ceiling`.
pub(super) fn line_end(file: &[u8], offset: usize, ceiling: usize) -> usize {
    memchr::memchr2(b'\n', b'\r', &file[offset..ceiling]).map_or(ceiling, |at| offset + at)
}

/// Start of the line after the one that holds `offset`, and whether that line has a line end at all.
pub(super) fn next_line(file: &[u8], offset: usize, ceiling: usize) -> (usize, bool) {
    let end = line_end(file, offset, ceiling);
    match (file.get(end), file.get(end + 1)) {
        _ if end == ceiling => (end, false),
        (Some(b'\r'), Some(b'\n')) => (end + 2, true),
        _ => (end + 1, true),
    }
}

/// Returns whether all bytes of `span` are blanks.
pub(super) fn is_blank(file: &[u8], span: Span) -> bool {
    file[span.range()].iter().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// The start of an entry: its key with anchor and tag, or the `?` before it on its line.
pub(super) fn entry_start(file: &[u8], entry: &Entry<'_>, floor: usize) -> usize {
    let key = entry.key.outer_start();
    let visible = file[floor..key].iter().rposition(|byte| !matches!(byte, b' ' | b'\t'));
    visible.filter(|at| file[floor + at] == b'?' && floor + at + 1 < key).map_or(key, |at| floor + at)
}

/// The offset after the `:` of an entry; `None` where no colon is written (`{a}`, `? a`).
pub(super) fn after_colon(file: &[u8], entry: &Entry<'_>) -> Option<usize> {
    visible_from(file, entry.key.span.end).filter(|at| file[*at] == b':').map(|at| at + 1)
}

/// The offset of the first byte from `offset` on that is no blank, line end or comment.
pub(super) fn visible_from(file: &[u8], mut offset: usize) -> Option<usize> {
    loop {
        match file.get(offset)? {
            b'#' => offset = line_end(file, offset, file.len()),
            byte if byte.is_ascii_whitespace() => offset += 1,
            _ => return Some(offset),
        }
    }
}

/// The offset of the `-` of a block item; `None` where something else than blanks and line ends stands
/// between.
pub(super) fn dash(file: &[u8], item: &Node<'_>, floor: usize) -> Option<usize> {
    let start = item.outer_start();
    if is_block_scalar(item) && item.properties.is_none() {
        return dash_before_header(file, start, floor);
    }
    let before = &file[floor..start];
    let at = before.iter().rposition(|byte| !byte.is_ascii_whitespace())?;
    (before[at] == b'-').then_some(floor + at)
}

/// The `-` on the line of the `|` or `>` header above the block scalar that starts at `content`.
fn dash_before_header(file: &[u8], content: usize, floor: usize) -> Option<usize> {
    let visible = file[floor..content].iter().rposition(|byte| !byte.is_ascii_whitespace())?;
    let line = line_start(file, floor + visible, floor);
    let marks = file[line..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'-')).count();
    let header = matches!(file.get(line + marks), Some(b'|' | b'>'));
    let dash = file[line..line + marks].iter().rposition(|byte| *byte == b'-')?;
    header.then_some(line + dash)
}

fn is_block_scalar(node: &Node<'_>) -> bool {
    matches!(&node.kind, NodeKind::Scalar { style: ScalarStyle::Literal | ScalarStyle::Folded, .. })
}

/// Returns whether the source of a node ends in a `|` or `>` scalar whose last line end is part of its value.
pub(super) fn ends_in_line_end(node: &Node<'_>) -> bool {
    let last = tail(node);
    is_block_scalar(last) && last.text().is_some_and(|text| text.ends_with('\n'))
}

/// The offset of the comma behind a child of a flow collection that ends at `end`; comments may stand
/// between.
pub(super) fn comma_after(file: &[u8], end: usize) -> Option<usize> {
    visible_from(file, end).filter(|at| file[*at] == b',')
}

/// Returns whether a flow collection stands between brackets or braces; a single pair in a list
/// (`[key: value]`) does not.
pub(super) fn has_brackets(file: &[u8], node: &Node<'_>) -> bool {
    matches!(file.get(node.span.start), Some(b'[' | b'{'))
        && matches!(file.get(node.span.end - 1), Some(b']' | b'}'))
}

/// The end of a child of a flow collection, with the blank behind the colon of an empty value: some readers
/// take `key:,` and `key:}` for text.
pub(super) fn behind_empty_value(file: &[u8], end: usize) -> usize {
    let is_blank = matches!(file.get(end), Some(b' ' | b'\t'));
    if file[end - 1] == b':' && is_blank { end + 1 } else { end }
}

/// The last node in the source below and including `node`.
fn tail<'t, 'a>(node: &'t Node<'a>) -> &'t Node<'a> {
    match &node.kind {
        NodeKind::Sequence { style: CollectionStyle::Block, items } => items.last().map_or(node, tail),
        NodeKind::Mapping { style: CollectionStyle::Block, entries } => {
            entries.last().map_or(node, |entry| tail(&entry.value))
        }
        _ => node,
    }
}

/// The end of the source of a node, behind its last visible byte. A block scalar's span runs over its last
/// line end; a value that is only an anchor or a tag ends behind these.
pub(super) fn content_end(file: &[u8], node: &Node<'_>) -> usize {
    match &node.kind {
        NodeKind::Sequence { style: CollectionStyle::Block, items } => {
            items.last().map_or(node.span.end, |item| content_end(file, item))
        }
        NodeKind::Mapping { style, entries }
            if *style == CollectionStyle::Block || !has_brackets(file, node) =>
        {
            entries.last().map_or(node.span.end, |entry| entry_end(file, entry))
        }
        NodeKind::Scalar { style: ScalarStyle::Literal | ScalarStyle::Folded, .. } => {
            // Without content the header is all there is.
            let end = block_scalar_end(file, node).max(node.span.start);
            let visible = |byte: &u8| !matches!(byte, b'\n' | b'\r');
            let in_content = file[node.span.start..end].iter().rposition(visible);
            in_content.map_or(file[..end].trim_ascii_end().len(), |at| node.span.start + at + 1)
        }
        _ => properties_end(node).map_or(node.span.end, |end| end.max(node.span.end)),
    }
}

/// The end of the anchor and the tag of a node.
pub(super) fn properties_end(node: &Node<'_>) -> Option<usize> {
    let properties = node.properties.as_ref()?;
    let anchor = properties.anchor.as_ref().map(|(_, span)| span.end);
    anchor.max(properties.tag.map(|tag| tag.span.end))
}

/// The end of the source of an entry: behind its value, or behind its colon when there is none.
pub(super) fn entry_end(file: &[u8], entry: &Entry<'_>) -> usize {
    content_end(file, &entry.value).max(after_colon(file, entry).unwrap_or(entry.key.span.end))
}

/// The offset for a new line behind a block child that ends at `end`: the start of the next line, and whether
/// a line end has to be written first. Blank lines at the end of a `|+` or `>+` scalar belong to it.
pub(super) fn line_after(file: &[u8], node: &Node<'_>, end: usize, ceiling: usize) -> (usize, bool) {
    let last = tail(node);
    let is_block_scalar = is_block_scalar(last);
    let end = if is_block_scalar { end.max(kept_blank_lines(file, last, end)) } else { end };
    if end > 0 && is_block_scalar && matches!(file[end - 1], b'\n' | b'\r') {
        return (end, false);
    }
    let (start, has_line_end) = next_line(file, end, ceiling);
    (start, !has_line_end)
}

/// The end of a block scalar that keeps its trailing blank lines; `end` for any other.
fn kept_blank_lines(file: &[u8], scalar: &Node<'_>, end: usize) -> usize {
    let keeps = scalar.text().is_some_and(|text| text.ends_with("\n\n") || text.chars().all(|c| c == '\n'));
    if keeps { block_scalar_end(file, scalar) } else { end }
}

/// The end of the lines of a block scalar: its span may run into the indentation of the line after it.
fn block_scalar_end(file: &[u8], scalar: &Node<'_>) -> usize {
    let end = scalar.span.end.min(file.len());
    let blanks = file[..end].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let line = end - blanks;
    if line > 0 && matches!(file[line - 1], b'\n' | b'\r') { line } else { end }
}

/// The bytes of spaces that bring a new line to the column of `offset`.
pub(super) fn indentation(file: &[u8], offset: usize, floor: usize) -> String {
    " ".repeat(offset - line_start(file, offset, floor))
}
