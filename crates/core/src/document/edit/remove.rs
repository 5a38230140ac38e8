//! `Edit::Remove`.

use super::{
    Change, Context, Planned, Refusal, Splice, compose,
    layout::{dash, entry_end, is_blank, line_after, line_start},
    locate::{Found, Parent, locate, refuse_anchors_inside},
    prove::Meaning,
    set,
};
use crate::document::{CollectionStyle, KeyPath, Node, NodeKind, Span};

pub(super) fn plan(context: &Context<'_, '_>, path: &KeyPath) -> Planned {
    let (node, parents) = match locate(context, path)? {
        Found::Node { node, parents } => (node, parents),
        Found::Absent { .. } => return Ok(None),
    };
    refuse_anchors_inside(context, node)?;
    let Some((parent, above)) = parents.split_last() else {
        return Err((Refusal::Layout { what: "the root cannot be removed" }, node.span));
    };
    let splice = match &parent.collection.kind {
        NodeKind::Mapping { style, entries } => {
            let spans: Vec<_> = entries
                .iter()
                .map(|entry| Span::new(entry.key.outer_start(), entry_end(context.file, entry)))
                .collect();
            let child =
                Child { spans: &spans, tail: node, column: spans[parent.index].start, brackets: "{}" };
            remove(context, parent, above, *style, &child)?
        }
        NodeKind::Sequence { style, items } => {
            let spans = compose::item_spans(context, items);
            let column = match style {
                CollectionStyle::Flow => node.outer_start(),
                CollectionStyle::Block => {
                    dash(context.file, node, context.start()).ok_or(shared_line(node.span))?
                }
            };
            let child = Child { spans: &spans, tail: node, column, brackets: "[]" };
            remove(context, parent, above, *style, &child)?
        }
        NodeKind::Scalar { .. } | NodeKind::Alias { .. } => return Err((Refusal::Absent, node.span)),
    };
    let meaning = Meaning::Removed { place: compose::place_of(above), index: parent.index };
    Ok(Some(Change { splices: vec![splice], meaning }))
}

/// The child to remove.
struct Child<'s, 't, 'a> {
    /// Source of all children of the collection.
    spans: &'s [Span],
    /// The node that ends the child.
    tail: &'t Node<'a>,
    /// Where the child starts: its key or its dash.
    column: usize,
    /// What the collection is when it is empty.
    brackets: &'static str,
}

fn remove(
    context: &Context<'_, '_>,
    parent: &Parent<'_, '_>,
    above: &[Parent<'_, '_>],
    style: CollectionStyle,
    child: &Child<'_, '_, '_>,
) -> Result<Splice, (Refusal, Span)> {
    let (spans, index) = (child.spans, parent.index);
    let gone = |span: Span| Splice { span, text: String::new() };
    let only = spans.len() == 1;
    if style == CollectionStyle::Flow {
        let whole = parent.collection.span;
        return Ok(gone(match (spans.get(index + 1), index.checked_sub(1)) {
            _ if only => Span::new(whole.start + 1, whole.end - 1),
            (Some(next), _) => Span::new(spans[index].start, next.start),
            (None, before) => {
                Span::new(before.map_or(whole.start + 1, |before| spans[before].end), spans[index].end)
            }
        }));
    }
    if only && !above.is_empty() {
        return set::emptied(context, parent.collection, above, child.brackets)
            .ok_or(shared_line(spans[index]));
    }
    if only && child.brackets == "[]" {
        return Ok(Splice {
            span: parent.collection.span.with_start(child.column),
            text: child.brackets.to_owned(),
        });
    }
    let line = line_start(context.file, child.column, context.start());
    if !is_blank(context.file, Span::new(line, child.column)) {
        // The first entry of a mapping that starts behind a dash: the next entry moves up to it.
        let next = spans.get(index + 1).ok_or(shared_line(spans[index]))?;
        return Ok(gone(Span::new(child.column, next.start)));
    }
    let end = spans[index].end.max(child.column + 1);
    let (after, at_end) = line_after(context.file, child.tail, end, context.end());
    // Without a final line end the one before the removed line goes instead.
    let from = if at_end { line_end_before(context, line) } else { line };
    Ok(gone(Span::new(from, after)))
}

/// Start of the line end that stands before `line`.
fn line_end_before(context: &Context<'_, '_>, line: usize) -> usize {
    let before = &context.file[context.start()..line];
    let width = if before.ends_with(b"\r\n") { 2 } else { usize::from(!before.is_empty()) };
    line - width
}

fn shared_line(span: Span) -> (Refusal, Span) {
    (Refusal::Layout { what: "it shares its line with other text" }, span)
}

impl Span {
    /// The same end, another start.
    const fn with_start(self, start: usize) -> Self {
        Self { start, end: self.end }
    }
}
