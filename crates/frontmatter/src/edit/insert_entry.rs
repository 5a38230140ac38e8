//! `Edit::InsertEntry`.

use super::{
    Change, Context, Planned, Refusal, compose,
    locate::{Found, entry_end, entry_start, indentation, locate},
    prove::Meaning,
    spell,
};
use crate::{CollectionStyle, Entry, KeyPath, NodeKind, Value};

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
    let count = |key: &str| entries.iter().filter(|entry| is_key(entry, key)).count();
    if count(key) > 0 {
        return Err((Refusal::DuplicateKey { key: key.to_owned(), count: count(key) + 1 }, node.span));
    }
    compose::refuse_same_name(context, entries, key)?;
    if count(after) > 1 {
        return Err((Refusal::DuplicateKey { key: after.to_owned(), count: count(after) }, node.span));
    }
    let Some(place) = entries.iter().position(|entry| is_key(entry, after)) else {
        return Err((Refusal::Absent, node.span));
    };
    let above = &entries[place];
    let column = entry_start(context.file, above, context.start());
    let indent = indentation(context.file, column, context.start());
    let quote = spell::quote_for_value(context, Some(&above.value));
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

fn is_key(entry: &Entry<'_>, key: &str) -> bool {
    entry.key.as_key() == Some(key)
}
