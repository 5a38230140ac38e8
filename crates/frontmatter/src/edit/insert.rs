//! `Edit::Insert`.

use super::{
    Change, Context, Planned, Refusal, Splice, append, compose,
    locate::{Found, dash, is_blank, line_start, locate},
    prove::Meaning,
    spell::{self, Place},
};
use crate::{CollectionStyle, KeyPath, NodeKind, Span, Value};

pub(super) fn plan(context: &Context<'_, '_>, path: &KeyPath, index: usize, item: &Value) -> Planned {
    let (node, parents) = match locate(context, path)? {
        Found::Node { node, .. } if node.is_null() && index == 0 => return append::plan(context, path, item),
        Found::Node { node, parents } => (node, parents),
        Found::Absent { .. } if index == 0 => return append::plan(context, path, item),
        Found::Absent { .. } => return Err((Refusal::NoSuchItem { index, length: 0 }, context.yaml.span())),
    };
    let NodeKind::Sequence { style, items } = &node.kind else { return Err((Refusal::NotAList, node.span)) };
    if index == items.len() {
        return append::add(context, node, &parents, item);
    }
    let Some(next) = items.get(index) else {
        return Err((Refusal::NoSuchItem { index, length: items.len() }, node.span));
    };
    let splice = match style {
        CollectionStyle::Block => {
            let dash = dash(context.file, next, context.start());
            let line = dash.map(|dash| line_start(context.file, dash, context.start()));
            let (Some(dash), Some(line)) = (dash, line) else { return Err(not_alone(next.span)) };
            if !is_blank(context.file, Span::new(line, dash)) {
                return Err(not_alone(next.span));
            }
            context.lines_at(line, false, &append::item_line(context, items, index, item)?)
        }
        CollectionStyle::Flow => {
            let quote = spell::quote_for_item(context, items);
            let text = spell::inline(item, quote, Place::Flow);
            let line = line_start(context.file, next.outer_start(), context.start());
            let own_line =
                line > node.span.start && is_blank(context.file, Span::new(line, next.outer_start()));
            let separator = if own_line {
                let indent = String::from_utf8_lossy(&context.file[line..next.outer_start()]).into_owned();
                format!("{}{indent}", context.line_ending.as_str())
            } else {
                " ".to_owned()
            };
            Splice { span: Span::at(next.outer_start()), text: format!("{text},{separator}") }
        }
    };
    let meaning = Meaning::ItemAdded { place: compose::place_of(&parents), index, item: item.clone() };
    Ok(Some(Change { splices: vec![splice], meaning }))
}

fn not_alone(span: Span) -> (Refusal, Span) {
    (Refusal::Layout { what: "the item shares its line with other text" }, span)
}
