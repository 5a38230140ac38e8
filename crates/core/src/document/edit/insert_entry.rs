//! `Edit::InsertEntry`.

use super::{
    Change, Context, Planned, Refusal, compose,
    layout::{entry_end, entry_start, indentation},
    locate::{Found, locate},
    prove::Meaning,
    style,
};
use crate::document::{CollectionStyle, KeyPath, NodeKind, Value};

pub(super) fn plan(
    context: &Context<'_, '_>,
    path: &KeyPath,
    after: &str,
    (key, value): (&str, &Value),
) -> Planned {
    let Found::Node { node, parents } = locate(context, path)? else {
        return Err((Refusal::Absent, context.yaml.span()));
    };
    let NodeKind::Mapping { style, entries } = &node.kind else {
        return Err((Refusal::NotAMapping { found: path.to_string() }, node.span));
    };
    if *style != CollectionStyle::Block {
        let what = "an entry goes behind another only where each stands on a line of its own";
        return Err((Refusal::Layout { what }, node.span));
    }
    let find = |key: &str| context.keys.find(entries, key);
    if let Some(there) = find(key) {
        return Err((Refusal::DuplicateKey { key: key.to_owned(), count: there.count + 1 }, node.span));
    }
    let place = match find(after) {
        None => return Err((Refusal::Absent, node.span)),
        Some(above) if above.count > 1 => {
            return Err((Refusal::DuplicateKey { key: after.to_owned(), count: above.count }, node.span));
        }
        Some(above) => above.first,
    };
    let above = &entries[place];
    let column = entry_start(context.file, above, context.start());
    let indent = indentation(context.file, column, context.start());
    let quote = style::quote_for_value(context, Some(&above.value));
    let lines = compose::entry_lines(context, &indent, key, value, quote);
    let (offset, after_text) = context.line_behind(&above.value, entry_end(context.file, above))?;
    let splices = vec![context.lines_at(offset, after_text, &lines)];
    let meaning = Meaning::EntryAdded {
        place: compose::place_of(&parents),
        index: place + 1,
        key: key.to_owned(),
        value: value.clone(),
    };
    Ok(Some(Change { splices, meaning }))
}
