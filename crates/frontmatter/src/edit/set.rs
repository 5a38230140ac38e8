//! `Edit::Set`.

use super::{
    Change, Context, Planned, Refusal, Splice, compose,
    locate::{
        Found, Parent, after_colon, content_end, dash, entry_start, indentation, line_end, locate,
        properties_end, refuse_anchors_inside,
    },
    prove::{Meaning, is_value},
    spell::{self, Place},
};
use crate::yaml_1_1::{Disagreement, disagreement, is_timestamp};
use crate::{CollectionStyle, KeyPath, Node, NodeKind, Scalar, ScalarStyle, Span, Value};

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
    refuse_foreign_tag(context, node, &value)?;
    let splices = match &node.kind {
        _ if node.is_null() => fill(context, node, parents, &value)?,
        NodeKind::Scalar { style: ScalarStyle::Literal | ScalarStyle::Folded, .. }
        | NodeKind::Sequence { style: CollectionStyle::Block, .. }
        | NodeKind::Mapping { style: CollectionStyle::Block, .. } => lines(context, node, parents, &value)?,
        _ => {
            let quote = match parents.last().map(|parent| &parent.collection.kind) {
                // What was a number has no quotes of its own: the item gets those of a new one.
                Some(NodeKind::Sequence { items, .. }) if spell::quote_of(node).is_none() => {
                    spell::quote_for_item(context, items)
                }
                _ => spell::quote_for_value(context, Some(node)),
            };
            let blank = if properties_end(node) == Some(node.span.start) { " " } else { "" };
            let text = match &value {
                Value::String(text) if stays_plain(node, text) => format!("{blank}{text}"),
                value => format!("{blank}{}", spell::inline(value, quote, place(parents))),
            };
            vec![Splice { span: node.span, text }]
        }
    };
    let meaning = Meaning::Replaced { place: compose::place_of(parents), value };
    Ok(Some(Change { splices, meaning }))
}

/// Returns whether `text` needs no quotes beside `node`, which has none: both are dates or times, or both are
/// words that YAML 1.1 takes for a boolean.
pub(super) fn stays_plain(node: &Node<'_>, text: &str) -> bool {
    let is_plain = matches!(node.kind, NodeKind::Scalar { style: ScalarStyle::Plain, .. });
    let Some(old) = node.text().filter(|_| is_plain) else { return false };
    let is_sign = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | 'T' | 'Z' | '.' | '+' | ' ');
    let shape = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "0");
    let is_alike = disagreement(old) == disagreement(text);
    let is_time = text.chars().all(is_sign) && text.contains(['-', ':']);
    is_alike && disagreement(text) == Some(Disagreement::Bool)
        || is_time && is_timestamp(old) && is_real(text)
        || is_time && is_alike && !is_timestamp(text) && shape(old) == shape(text)
}

/// Returns whether a calendar and a clock have the date or time: readers fail on others without quotes.
fn is_real(text: &str) -> bool {
    let (date, time) = text.split_once(['T', ' ']).map_or((text, None), |(date, time)| (date, Some(time)));
    let number = |text: Option<&str>| text.filter(|text| text.len() == 2)?.parse::<u32>().ok();
    let mut parts = date.splitn(3, '-').skip(1);
    let day = (number(parts.next()), number(parts.next()));
    let mut parts = time.unwrap_or("00:00:00").splitn(3, ':');
    let mut clock = [number(parts.next()), number(parts.next()), Some(0)];
    if let Some(rest) = parts.next() {
        clock[2] = number(rest.get(..2));
    }
    is_timestamp(text)
        && matches!(day, (Some(month @ 1..=12), Some(1..=28)) | (Some(month @ (1 | 3..=12)), Some(29..=30)) | (Some(month @ (1 | 3 | 5 | 7 | 8 | 10 | 12)), Some(31)) if month > 0)
        && matches!(clock, [Some(0..=23), Some(0..=59), Some(0..=59)])
}

/// Refuses to put a value behind a tag that says another type: `!!int 3` → `!!int done`.
pub(super) fn refuse_foreign_tag(
    context: &Context<'_, '_>,
    node: &Node<'_>,
    value: &Value,
) -> Result<(), (Refusal, Span)> {
    let Some(span) = node.tag() else { return Ok(()) };
    let tag = String::from_utf8_lossy(&context.file[span.range()]).into_owned();
    let is_core = tag.starts_with("!!") || tag.starts_with("!<");
    let fits = match value {
        Value::String(_) => !is_core || tag == "!!str",
        Value::Sequence(_) => !is_core || tag == "!!seq",
        Value::Mapping(_) => !is_core || tag == "!!map",
        Value::Integer(_) => tag == "!!int",
        Value::Float(_) => tag == "!!float",
        Value::Bool(_) => tag == "!!bool",
        Value::Number(text) => match Scalar::resolve(text) {
            Scalar::Integer(_) => tag == "!!int",
            Scalar::Float(_) => tag == "!!float",
            _ => false,
        },
        Value::Null => false,
    };
    if fits { Ok(()) } else { Err((Refusal::Tagged { tag }, span)) }
}

fn place(parents: &[Parent<'_, '_>]) -> Place {
    if parents.iter().any(|parent| is_flow(parent.collection)) { Place::Flow } else { Place::Block }
}

/// Replaces a value that stands on lines of its own. A comment behind its key, or behind the `|` of its
/// header, stays.
fn lines(
    context: &Context<'_, '_>,
    node: &Node<'_>,
    parents: &[Parent<'_, '_>],
    value: &Value,
) -> Result<Vec<Splice>, (Refusal, Span)> {
    let slot = slot(context, parents).ok_or(no_slot(node))?;
    let quote = spell::quote_for_value(context, Some(node));
    let text = match (value, &node.kind) {
        (Value::Sequence(new), NodeKind::Sequence { items, .. }) if !new.is_empty() => {
            let dash = items.first().and_then(|first| dash(context.file, first, context.start()));
            let column = indentation(context.file, dash.ok_or(no_slot(node))?, context.start());
            let line_ending = context.line_ending.as_str();
            let line = |item| format!("{line_ending}{column}- {}", spell::inline(item, quote, Place::Block));
            new.iter().map(line).collect()
        }
        (_, NodeKind::Mapping { .. }) if slot.indent.is_some() => {
            compose::behind_key(context, slot.indent.as_deref().unwrap_or_default(), value, quote)
        }
        _ => format!(" {}", spell::inline(value, quote, Place::Block)),
    };
    let after = properties_end(node).map_or(slot.after, |end| end.max(slot.after));
    if node.text().is_some_and(str::is_empty) {
        // A `|` without content: what stands behind it on the lines below is not its own.
        let rest = &context.file[after..context.end()];
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let header = rest[blanks..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        return Ok(vec![Splice { span: Span::new(after, after + blanks + header), text }]);
    }
    let end = content_end(context.file, node);
    let header_end = line_end(context.file, after, context.end());
    let mut comments = context.yaml.comments().iter().map(|comment| comment.span);
    let comment = comments.find(|span| after <= span.start && span.end <= header_end);
    let behind_header = Span::new(header_end, end);
    match comment {
        _ if end <= header_end => Ok(vec![Splice { span: Span::new(after, end), text }]),
        _ if !text.starts_with(' ') && node.span.start > header_end => {
            Ok(vec![Splice { span: behind_header, text }])
        }
        Some(comment) if node.span.start > header_end => {
            let visible = context.file[after..comment.start].trim_ascii_end().len();
            let header = Splice { span: Span::new(after, after + visible), text };
            Ok(vec![header, Splice { span: behind_header, text: String::new() }])
        }
        _ => Ok(vec![Splice { span: Span::new(after, end), text }]),
    }
}

/// Puts a value where nothing, `~` or `null` stands.
fn fill(
    context: &Context<'_, '_>,
    node: &Node<'_>,
    parents: &[Parent<'_, '_>],
    value: &Value,
) -> Result<Vec<Splice>, (Refusal, Span)> {
    let slot = slot(context, parents).ok_or(no_slot(node))?;
    let siblings = parents.last().map(|parent| parent.collection.items()).unwrap_or_default();
    let quote = if siblings.is_empty() {
        spell::quote_for_value(context, None)
    } else {
        spell::quote_for_item(context, siblings)
    };
    let text = match (&slot.indent, place(parents)) {
        (Some(indent), Place::Block) => compose::behind_key(context, indent, value, quote),
        (_, place) => format!(" {}", spell::inline(value, quote, place)),
    };
    let after = properties_end(node).map_or(slot.after, |end| end.max(slot.after));
    let is_empty = node.span.is_empty();
    match text.strip_prefix(' ') {
        Some(text) if !is_empty => Ok(vec![Splice { span: node.span, text: text.to_owned() }]),
        Some(_) => Ok(vec![Splice { span: Span::at(content_end(context.file, node).max(after)), text }]),
        None => {
            // The value goes on lines of its own, below a comment on this line.
            let old = if is_empty { Span::at(after) } else { Span::new(after, node.span.end) };
            let below = line_end(context.file, old.end, context.end());
            let removal = (!is_empty).then(|| Splice { span: old, text: String::new() });
            Ok(removal.into_iter().chain([Splice { span: Span::at(below), text }]).collect())
        }
    }
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
        let key = entry_start(context.file, entry, context.start());
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

/// The offset behind the `:` or `-` of `node`, and behind its anchor and tag: where its content may start.
pub(super) fn behind_indicator(
    context: &Context<'_, '_>,
    node: &Node<'_>,
    parents: &[Parent<'_, '_>],
) -> Option<usize> {
    let slot = slot(context, parents)?;
    Some(properties_end(node).map_or(slot.after, |end| end.max(slot.after)))
}
