//! `Edit::Append`.

use super::{
    Change, Context, Planned, Refusal, compose,
    locate::{Found, Parent, content_end, dash, indentation, locate},
    prove::Meaning,
    set,
    spell::{self, Place},
};
use crate::{CollectionStyle, KeyPath, Node, NodeKind, Span, Value};

pub(super) fn plan(context: &Context<'_, '_>, path: &KeyPath, item: &Value) -> Planned {
    match locate(context, path)? {
        Found::Node { node, parents } if node.is_null() => {
            set::replace(context, node, &parents, Value::Sequence(vec![item.clone()]))
        }
        Found::Node { node, parents } => add(context, node, &parents, item),
        Found::Absent { deepest, parents, missing } => {
            let list = Value::Sequence(vec![item.clone()]);
            compose::new_entry(context, deepest, &parents, &missing, &list)
        }
    }
}

/// Adds `item` at the end of the list `node`.
pub(super) fn add(
    context: &Context<'_, '_>,
    node: &Node<'_>,
    parents: &[Parent<'_, '_>],
    item: &Value,
) -> Planned {
    let NodeKind::Sequence { style, items } = &node.kind else { return Err((Refusal::NotAList, node.span)) };
    let quote = spell::quote_for_item(context, items);
    let splices = match (style, items.last()) {
        (CollectionStyle::Block, Some(last)) => {
            let end = last_end(context, last)?;
            let (offset, after_text) = context.line_behind(last, end)?;
            let line = item_line(context, items, items.len() - 1, item)?;
            vec![context.lines_at(offset, after_text, &line)]
        }
        _ => {
            let text = item_text(items.last(), item, || spell::inline(item, quote, Place::Flow));
            compose::flow_add(context, node.span, &compose::last_spans(context, items), &text)
        }
    };
    let meaning =
        Meaning::ItemAdded { place: compose::place_of(parents), index: items.len(), item: item.clone() };
    Ok(Some(Change { splices, meaning }))
}

/// Behind the last item, or behind its dash when it is empty.
fn last_end(context: &Context<'_, '_>, last: &Node<'_>) -> Result<usize, (Refusal, Span)> {
    let dash = dash(context.file, last, context.start()).ok_or(no_dash(last))?;
    Ok(content_end(context.file, last).max(dash + 1))
}

/// The line of a new item beside `items[like]`: its column, the blanks behind its dash, and its kind of
/// mapping.
pub(super) fn item_line(
    context: &Context<'_, '_>,
    items: &[Node<'_>],
    like: usize,
    item: &Value,
) -> Result<String, (Refusal, Span)> {
    let neighbour = &items[like];
    let dash = dash(context.file, neighbour, context.start()).ok_or(no_dash(neighbour))?;
    let column = indentation(context.file, dash, context.start());
    let between = &context.file[dash + 1..neighbour.outer_start()];
    let only_spaces = !between.is_empty() && between.iter().all(|byte| *byte == b' ');
    let blanks = " ".repeat(if only_spaces { between.len() } else { 1 });
    let quote = spell::quote_for_item(context, items);
    let text = match (item, &neighbour.kind) {
        (Value::Mapping(entries), NodeKind::Mapping { style: CollectionStyle::Block, .. })
            if !entries.is_empty() =>
        {
            let deeper = format!("{column} {blanks}");
            let lines = spell::block_mapping(entries, &deeper, quote, context.line_ending);
            lines.trim_start_matches(' ').to_owned()
        }
        _ => item_text(Some(neighbour), item, || spell::inline(item, quote, Place::Block)),
    };
    Ok(format!("{column}-{blanks}{text}"))
}

/// The text of `item`, `spelled` unless it needs no quotes beside its neighbour.
fn item_text(neighbour: Option<&Node<'_>>, item: &Value, spelled: impl FnOnce() -> String) -> String {
    match (neighbour, item) {
        (Some(neighbour), Value::String(text)) if set::stays_plain(neighbour, text) => text.clone(),
        _ => spelled(),
    }
}

fn no_dash(item: &Node<'_>) -> (Refusal, Span) {
    (Refusal::Layout { what: "a comment or another mark stands between the dash and the item" }, item.span)
}
