//! Where things stand in the source around a node: line starts, indicators, ends. Here live the span traps of block
//! scalars, empty values and indentless lists (CRATES.md §2).

use crate::document::{CollectionStyle, Entry, Node, NodeKind, ScalarStyle, Span};

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

/// Whether all bytes of `span` are blanks.
pub(super) fn is_blank(file: &[u8], span: Span) -> bool {
    file[span.range()].iter().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// The offset after the `:` of an entry; `None` where no colon is written (`{a}`, `? a`).
pub(super) fn after_colon(file: &[u8], entry: &Entry<'_>) -> Option<usize> {
    let after_key = entry.key.span.end;
    let blanks = file[after_key..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (file.get(after_key + blanks) == Some(&b':')).then_some(after_key + blanks + 1)
}

/// The offset of the `-` of a block item; `None` where something else than blanks and line ends stands between.
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

/// Where the source of a node ends, behind its last visible byte. A block scalar's span runs over its last line end;
/// a value that is only an anchor or a tag ends behind these.
pub(super) fn content_end(file: &[u8], node: &Node<'_>) -> usize {
    let last = tail(node);
    let properties = last.properties.iter().flat_map(|properties| {
        let anchor = properties.anchor.as_ref().map(|(_, span)| span.end);
        [anchor, properties.tag.map(|tag| tag.end)].into_iter().flatten()
    });
    let end = properties.fold(last.span.end, usize::max);
    match &last.kind {
        NodeKind::Scalar { style: ScalarStyle::Literal | ScalarStyle::Folded, .. } => {
            let text = &file[last.span.start..end];
            last.span.start
                + text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1)
        }
        _ => end,
    }
}

/// Where the source of an entry ends: behind its value, or behind its colon when there is none.
pub(super) fn entry_end(file: &[u8], entry: &Entry<'_>) -> usize {
    content_end(file, &entry.value).max(after_colon(file, entry).unwrap_or(entry.key.span.end))
}

/// Where a line can be put behind a block child that ends at `end`: the start of the next line, and whether a line end
/// has to be written first. Blank lines at the end of a `|+` or `>+` scalar belong to it.
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
    if keeps && scalar.span.end <= file.len() { scalar.span.end } else { end }
}

/// The bytes of spaces that bring a new line to the column of `offset`.
pub(super) fn indentation(file: &[u8], offset: usize, floor: usize) -> String {
    " ".repeat(offset - line_start(file, offset, floor))
}
