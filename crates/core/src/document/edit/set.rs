//! `Edit::Set`.

use super::{
    Change, Context, Planned, Refusal, Splice, compose,
    layout::{after_colon, content_end, dash, indentation, line_end},
    locate::{Found, Parent, locate, refuse_anchors_inside},
    prove::{Meaning, is_value},
    spell::{self, Place},
    style,
};
use crate::document::{CollectionStyle, KeyPath, Node, NodeKind, ScalarStyle, Span, Value};

pub(super) fn plan(context: &Context<'_, '_>, path: &KeyPath, value: &Value) -> Planned {
    match locate(context, path)? {
        Found::Node { node, .. } if is_value(node, value) => Ok(None),
        Found::Node { node, parents } => {
            refuse_anchors_inside(context, node)?;
            replace(context, node, &parents, value.clone())
        }
        Found::Absent { deepest, parents, missing } => {
            compose::new_entry(context, deepest, &parents, &missing, value)
        }
    }
}

/// Gives `node` the value `value`.
pub(super) fn replace(
    context: &Context<'_, '_>,
    node: &Node<'_>,
    parents: &[Parent<'_, '_>],
    value: Value,
) -> Planned {
    let quote = style::quote_for_value(context, Some(node));
    let in_flow = parents.iter().any(|parent| is_flow(parent.collection));
    let place = if in_flow { Place::Flow } else { Place::Block };
    let inline = || spell::inline(&value, quote, place);
    let splices = match &node.kind {
        _ if node.is_null() => fill(context, node, parents, &value, in_flow)?,
        NodeKind::Scalar { style: ScalarStyle::Literal | ScalarStyle::Folded, .. } => {
            let slot = slot(context, parents).ok_or(no_slot(node))?;
            let properties = node
                .properties
                .iter()
                .flat_map(|own| own.tag.into_iter().chain(own.anchor.as_ref().map(|a| a.1)));
            let after = properties.map(|span| span.end).fold(slot.after, usize::max);
            let span = Span::new(after, content_end(context.file, node));
            vec![Splice { span, text: format!(" {}", inline()) }]
        }
        NodeKind::Sequence { style: CollectionStyle::Block, items } => {
            let slot = slot(context, parents).ok_or(no_slot(node))?;
            let text = match (&value, items.first()) {
                (Value::Sequence(new), Some(first)) if !new.is_empty() => {
                    let offset = dash(context.file, first, context.start()).ok_or(no_slot(node))?;
                    let column = indentation(context.file, offset, context.start());
                    let line = |item| {
                        format!(
                            "{}{column}- {}",
                            context.line_ending.as_str(),
                            spell::inline(item, quote, Place::Block)
                        )
                    };
                    new.iter().map(line).collect()
                }
                _ => format!(" {}", inline()),
            };
            vec![Splice { span: Span::new(slot.after, content_end(context.file, node)), text }]
        }
        NodeKind::Mapping { style: CollectionStyle::Block, .. } => {
            let slot = slot(context, parents).ok_or(no_slot(node))?;
            let text = match slot.indent {
                Some(indent) => compose::behind_key(context, &indent, &value, quote),
                None => format!(" {}", inline()),
            };
            vec![Splice { span: Span::new(slot.after, content_end(context.file, node)), text }]
        }
        _ => vec![Splice { span: node.span, text: inline() }],
    };
    let meaning = Meaning::Replaced { place: compose::place_of(parents), value };
    Ok(Some(Change { splices, meaning }))
}

/// Puts a value where nothing, `~` or `null` stands.
fn fill(
    context: &Context<'_, '_>,
    node: &Node<'_>,
    parents: &[Parent<'_, '_>],
    value: &Value,
    in_flow: bool,
) -> Result<Vec<Splice>, (Refusal, Span)> {
    let slot = slot(context, parents).ok_or(no_slot(node))?;
    let siblings = parents.last().map(|parent| parent.collection.items()).unwrap_or_default();
    let quote = if siblings.is_empty() {
        style::quote_for_value(context, None)
    } else {
        style::quote_for_item(context, siblings)
    };
    let written = content_end(context.file, node).max(slot.after);
    let text = match (&slot.indent, in_flow) {
        (Some(indent), false) => compose::behind_key(context, indent, value, quote),
        (_, true) => format!(" {}", spell::inline(value, quote, Place::Flow)),
        (None, false) => format!(" {}", spell::inline(value, quote, Place::Block)),
    };
    let old = if node.span.is_empty() { Span::at(written) } else { Span::new(slot.after, node.span.end) };
    if !text.starts_with(' ') {
        // The value goes on lines of its own, below a comment on this line.
        let below = line_end(context.file, old.end, context.end());
        let removal = (!old.is_empty()).then(|| Splice { span: old, text: String::new() });
        return Ok(removal.into_iter().chain([Splice { span: Span::at(below), text }]).collect());
    }
    Ok(vec![Splice { span: old, text }])
}

/// The place of a value behind its `:` or `-`.
struct Slot {
    /// The offset after the indicator.
    after: usize,
    /// The indentation of the key, where the value stands behind a key that starts its line.
    indent: Option<String>,
}

fn slot(context: &Context<'_, '_>, parents: &[Parent<'_, '_>]) -> Option<Slot> {
    let parent = parents.last()?;
    if let Some(entry) = parent.entry() {
        let key = entry.key.outer_start();
        let indent = (!is_flow(parent.collection)).then(|| indentation(context.file, key, context.start()));
        return after_colon(context.file, entry).map(|after| Slot { after, indent });
    }
    let item = parent.collection.items().get(parent.index)?;
    if is_flow(parent.collection) {
        return Some(Slot { after: item.outer_start(), indent: None });
    }
    dash(context.file, item, context.start()).map(|dash| Slot { after: dash + 1, indent: None })
}

fn is_flow(node: &Node<'_>) -> bool {
    matches!(
        node.kind,
        NodeKind::Mapping { style: CollectionStyle::Flow, .. }
            | NodeKind::Sequence { style: CollectionStyle::Flow, .. }
    )
}

fn no_slot(node: &Node<'_>) -> (Refusal, Span) {
    (Refusal::Layout { what: "its place has no `:` or `-` before it to write behind" }, node.span)
}

/// Where the value of `parents` starts and ends with its indicator: used by a removal that leaves `[]` or `{}` behind.
pub(super) fn emptied(
    context: &Context<'_, '_>,
    node: &Node<'_>,
    parents: &[Parent<'_, '_>],
    brackets: &str,
) -> Option<Splice> {
    let slot = slot(context, parents)?;
    let span = Span::new(slot.after, content_end(context.file, node));
    Some(Splice { span, text: format!(" {brackets}") })
}
