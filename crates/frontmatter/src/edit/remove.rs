//! `Edit::Remove`.

use super::{
    Change, Context, Planned, Refusal, Splice, compose,
    locate::{
        Found, Parent, behind_empty_value, comma_after, dash, ends_in_line_end, entry_end, entry_start,
        has_brackets, is_blank, line_after, line_end, line_start, locate, next_line, refuse_anchors_inside,
        visible_from,
    },
    prove::Meaning,
    set,
};
use crate::{CollectionStyle, KeyPath, Node, NodeKind, Span};

pub(super) fn plan(context: &Context<'_, '_>, path: &KeyPath) -> Planned {
    let root = || (Refusal::Layout { what: "the root cannot be removed" }, context.yaml.span());
    if path.0.is_empty() {
        return Err(root());
    }
    let (node, parents) = match locate(context, path)? {
        Found::Node { node, parents } => (node, parents),
        Found::Absent { .. } => return Ok(None),
    };
    refuse_anchors_inside(context, node)?;
    let Some((parent, above)) = parents.split_last() else {
        return Err(root());
    };
    if let Some(entry) = parent.entry() {
        refuse_anchors_inside(context, &entry.key)?;
    }
    let child = Child::of(context, parent, node)?;
    let splices = match child.style {
        CollectionStyle::Flow if has_brackets(context.file, child.whole) => from_flow(context, &child),
        CollectionStyle::Flow => return Err(shared_line(child.whole.span)),
        CollectionStyle::Block => from_block(context, parent, above, &child)?,
    };
    let meaning = Meaning::Removed {
        place: compose::place_of(above),
        index: parent.index,
        own: Span::new(child.start, child.own_end(context)),
    };
    Ok(Some(Change { splices, meaning }))
}

/// The child to remove.
struct Child<'t, 'a> {
    /// The collection around it.
    whole: &'t Node<'a>,
    style: CollectionStyle,
    /// The start of the child: its key, its dash or its first byte.
    start: usize,
    /// Behind its last visible byte.
    end: usize,
    /// The node that ends it.
    tail: &'t Node<'a>,
    /// End of the child before it, and the node that ends that one.
    before: Option<(usize, &'t Node<'a>)>,
    /// Start of the child behind it.
    next: Option<usize>,
    /// The empty collection.
    brackets: &'static str,
}

impl<'t, 'a> Child<'t, 'a> {
    fn of(
        context: &Context<'_, '_>,
        parent: &Parent<'t, 'a>,
        node: &'t Node<'a>,
    ) -> Result<Self, (Refusal, Span)> {
        let (whole, index) = (parent.collection, parent.index);
        let start = |entry| entry_start(context.file, entry, context.start());
        match &whole.kind {
            NodeKind::Mapping { style, entries } => Ok(Self {
                whole,
                style: *style,
                start: start(&entries[index]),
                end: entry_end(context.file, &entries[index]),
                tail: node,
                before: index
                    .checked_sub(1)
                    .map(|at| (entry_end(context.file, &entries[at]), &entries[at].value)),
                next: entries.get(index + 1).map(start),
                brackets: "{}",
            }),
            NodeKind::Sequence { style, items } => {
                let end = |at: usize| super::locate::content_end(context.file, &items[at]);
                let start = |item: &Node<'_>| match style {
                    CollectionStyle::Flow => Some(item.outer_start()),
                    CollectionStyle::Block => dash(context.file, item, context.start()),
                };
                let next = items.get(index + 1).map(|item| start(item).ok_or(shared_line(item.span)));
                let start = start(node).ok_or(shared_line(node.span))?;
                Ok(Self {
                    whole,
                    style: *style,
                    start,
                    end: end(index).max(start + 1),
                    tail: node,
                    before: index.checked_sub(1).map(|at| (end(at), &items[at])),
                    next: next.transpose()?,
                    brackets: "[]",
                })
            }
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => Err((Refusal::Absent, node.span)),
        }
    }

    fn is_only(&self) -> bool {
        self.before.is_none() && self.next.is_none()
    }

    /// The end of the child's lines, with a comment behind it. On a line that another child shares, and
    /// behind the bracket around it, nothing is its own.
    fn own_end(&self, context: &Context<'_, '_>) -> usize {
        let ceiling = match self.style {
            CollectionStyle::Flow => self.whole.span.end,
            CollectionStyle::Block => context.end(),
        };
        let end = line_end(context.file, self.end, ceiling);
        if self.next.is_some_and(|next| next < end) { self.end } else { end }
    }

    /// The lines of the child, where nothing else stands on them but its comma and its comment.
    fn own_lines(&self, context: &Context<'_, '_>) -> Option<Span> {
        let file = context.file;
        let line = line_start(file, self.start, self.whole.span.start);
        let (next, has_line_end) = next_line(file, self.end, self.whole.span.end);
        let behind = comma_after(file, self.end).map_or(self.end, |comma| comma + 1);
        let rest = file[behind.min(next)..next].trim_ascii_start();
        let alone = line > self.whole.span.start
            && is_blank(file, Span::new(line, self.start))
            && (rest.is_empty() || rest.starts_with(b"#"));
        (alone && has_line_end).then_some(Span::new(line, next))
    }
}

fn gone(span: Span) -> Splice {
    Splice { span, text: String::new() }
}

fn from_flow(context: &Context<'_, '_>, child: &Child<'_, '_>) -> Vec<Splice> {
    let file = context.file;
    let whole = child.whole.span;
    if child.is_only() {
        return vec![gone(Span::new(whole.start + 1, whole.end - 1))];
    }
    let lines = child.own_lines(context);
    let has_own_comma = |lines: &Span| comma_after(file, child.end).is_some_and(|comma| comma < lines.end);
    if let Some(next) = child.next {
        return vec![gone(lines.filter(has_own_comma).unwrap_or(Span::new(child.start, next)))];
    }
    let before = child.before.map_or(whole.start + 1, |(end, _)| behind_empty_value(file, end));
    let outside = [Span::new(before, child.start), Span::new(child.end, child.own_end(context))];
    let is_outside = |comment: Span| outside.iter().any(|span| span.holds(comment));
    let has_comment = context.yaml.comments().iter().any(|comment| is_outside(comment.span));
    match lines {
        _ if !has_comment || line_start(file, child.start, before) == before => {
            let text = if file[before - 1] == b':' { " " } else { "" };
            vec![Splice { span: Span::new(before, child.end), text: text.to_owned() }]
        }
        Some(lines) if has_own_comma(&lines) => vec![gone(lines)],
        Some(lines) => comma_behind(file, before).into_iter().chain([gone(lines)]).collect(),
        None => before_bracket(context, before, child),
    }
}

/// The comma behind a child that ends at `end`, as what goes.
fn comma_behind(file: &[u8], end: usize) -> Option<Splice> {
    comma_after(file, end).map(|comma| gone(Span::new(comma, comma + 1)))
}

/// Takes the last child out of the line of the closing bracket, where a comment ends the line above: what is
/// left of the line keeps its indentation, for the reference reads no bracket and no comma left of it (YAML
/// 1.2.2, §7.4). Of two commas the one above the comment stays.
fn before_bracket(context: &Context<'_, '_>, before: usize, child: &Child<'_, '_>) -> Vec<Splice> {
    let file = context.file;
    let behind_blanks =
        |end: usize| end + file[end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let own = comma_after(file, child.end).filter(|comma| is_blank(file, Span::new(child.end, *comma)));
    match own {
        Some(comma) => vec![gone(Span::new(child.start, behind_blanks(comma + 1)))],
        None => {
            let child = gone(Span::new(child.start, behind_blanks(child.end)));
            comma_behind(file, before).into_iter().chain([child]).collect()
        }
    }
}

fn from_block(
    context: &Context<'_, '_>,
    parent: &Parent<'_, '_>,
    above: &[Parent<'_, '_>],
    child: &Child<'_, '_>,
) -> Result<Vec<Splice>, (Refusal, Span)> {
    let refused = || shared_line(Span::new(child.start, child.end));
    if child.is_only() && !above.is_empty() {
        return emptied(context, parent.collection, above, child).ok_or_else(refused);
    }
    if child.is_only() && child.brackets == "[]" {
        let span = Span::new(child.start, child.end);
        return Ok(vec![Splice { span, text: child.brackets.to_owned() }]);
    }
    if child.is_only() && visible_from(context.file, child.end).is_some_and(|at| at < context.end()) {
        // `...` alone is no document to some readers.
        return Err(refused());
    }
    let line = line_start(context.file, child.start, context.start());
    if !is_blank(context.file, Span::new(line, child.start)) {
        // The first child of a collection that starts behind a dash: the next one moves up to it.
        let next = child.next.ok_or_else(refused)?;
        return Ok(vec![gone(Span::new(child.start, next))]);
    }
    Ok(vec![gone(lines_of(context, child))])
}

/// The lines of a block child that starts its line.
fn lines_of(context: &Context<'_, '_>, child: &Child<'_, '_>) -> Span {
    let line = line_start(context.file, child.start, context.start());
    let (after, at_end) = line_after(context.file, child.tail, child.end.max(child.start + 1), context.end());
    // Without a final line end the one before the removed line goes instead, unless it is part of a value.
    let before_is_value = child.before.is_some_and(|(_, node)| ends_in_line_end(node));
    let from = if at_end && !before_is_value { line_end_before(context, line) } else { line };
    Span::new(from, after)
}

/// Puts `[]` or `{}` in the place of a block collection that loses its only child. Comments that stand
/// between its key and the child stay.
fn emptied(
    context: &Context<'_, '_>,
    collection: &Node<'_>,
    above: &[Parent<'_, '_>],
    child: &Child<'_, '_>,
) -> Option<Vec<Splice>> {
    let after = set::behind_indicator(context, collection, above)?;
    let text = format!(" {}", child.brackets);
    let line = line_start(context.file, child.start, context.start());
    if after > line {
        return Some(vec![Splice { span: Span::new(after, child.own_end(context)), text }]);
    }
    let lines = lines_of(context, child);
    if lines.start <= after {
        return Some(vec![Splice { span: Span::new(after, lines.end), text }]);
    }
    Some(vec![Splice { span: Span::at(after), text }, gone(lines)])
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
