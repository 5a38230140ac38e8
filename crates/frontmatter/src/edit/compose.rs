//! New entries and items in the style of their collection.

use super::{
    Change, Context, Planned, Refusal, Splice,
    locate::{
        Parent, behind_empty_value, content_end, ends_in_line_end, entry_end, entry_start, has_brackets,
        indentation, is_blank, line_after, line_end, line_start,
    },
    prove::Meaning,
    spell::{self, ListStyle, Place, Quote},
};
use crate::{CollectionStyle, Entry, Node, NodeKind, Scalar, Span, Value};

impl Context<'_, '_> {
    pub(super) fn start(&self) -> usize {
        self.yaml.span().start
    }

    pub(super) fn end(&self) -> usize {
        self.yaml.span().end
    }

    /// The offset for a new line behind a block child `node` that ends at `end`; see [`line_after`]. A `|`
    /// text at the end of a file without a final line end has none in its value for some readers, and has one
    /// for others: putting a line behind it would change what the first ones read.
    pub(super) fn line_behind(&self, node: &Node<'_>, end: usize) -> Result<(usize, bool), (Refusal, Span)> {
        let (offset, after_text) = line_after(self.file, node, end, self.end());
        if after_text && ends_in_line_end(node) {
            let what = "the last text of the file misses its line end, and readers disagree on what it says";
            return Err((Refusal::Layout { what }, Span::at(offset)));
        }
        Ok((offset, after_text))
    }

    /// `lines` as whole lines at `offset`, which is the start of a line or, with `after_text`, the end of a
    /// file without a final line end. The file keeps what it has at its end.
    pub(super) fn lines_at(&self, offset: usize, after_text: bool, lines: &str) -> Splice {
        let line_ending = self.line_ending.as_str();
        let text = if after_text { format!("{line_ending}{lines}") } else { format!("{lines}{line_ending}") };
        Splice { span: Span::at(offset), text }
    }
}

/// The child numbers that lead to the node below `parents`.
pub(super) fn place_of(parents: &[Parent<'_, '_>]) -> Vec<usize> {
    parents.iter().map(|parent| parent.index).collect()
}

/// A new entry for the first of the `missing` keys; the further ones become mappings inside it. `deepest` is
/// the node that lacks the key, `None` in an empty region.
pub(super) fn new_entry(
    context: &Context<'_, '_>,
    deepest: Option<&Node<'_>>,
    parents: &[Parent<'_, '_>],
    missing: &[String],
    value: &Value,
) -> Planned {
    let Some((key, deeper)) = missing.split_first() else {
        return Err((Refusal::Absent, context.yaml.span()));
    };
    let value = deeper.iter().rev().fold(value.clone(), |value, key| Value::mapping([(key.as_str(), value)]));
    let Some(node) = deepest else { return Ok(Some(first_entry(context, key, value))) };
    match &node.kind {
        _ if node.is_null() => {
            let mapping = Value::mapping([(key.as_str(), value)]);
            super::set::replace(context, node, parents, mapping)
        }
        NodeKind::Mapping { style, entries } => {
            super::set::refuse_foreign_tag(context, node, &Value::Mapping(Vec::new()))?;
            refuse_same_name(context, entries, key)?;
            let quote = spell::quote_for_value(context, None);
            let splices = match (style, entries.last()) {
                (CollectionStyle::Block, Some(last)) => {
                    let column = entry_start(context.file, last, context.start());
                    let indent = indentation(context.file, column, context.start());
                    let lines = entry_lines(context, &indent, key, &value, quote);
                    let end = entry_end(context.file, last);
                    let (offset, after_text) = context.line_behind(&last.value, end)?;
                    vec![context.lines_at(offset, after_text, &lines)]
                }
                _ if !has_brackets(context.file, node) => {
                    return Err((
                        Refusal::Layout { what: "a pair without braces cannot get a second key" },
                        node.span,
                    ));
                }
                (_, Some(last))
                    if context.file[..entry_end(context.file, last)].trim_ascii_end().ends_with(b"?") =>
                {
                    let what = "readers disagree on what a `?` without a key says";
                    return Err((Refusal::Layout { what }, last.key.span));
                }
                _ => {
                    let key = spell::string(key, Quote::Plain, Place::Flow);
                    let text = format!("{key}: {}", spell::inline(&value, quote, Place::Flow));
                    let ends: Vec<_> = entries[entries.len().saturating_sub(2)..]
                        .iter()
                        .map(|entry| {
                            let start = entry_start(context.file, entry, context.start());
                            Span::new(start, entry_end(context.file, entry))
                        })
                        .collect();
                    flow_add(context, node.span, &ends, &text)
                }
            };
            let meaning = Meaning::EntryAdded {
                place: place_of(parents),
                index: entries.len(),
                key: key.clone(),
                value,
            };
            Ok(Some(Change { splices, meaning }))
        }
        _ => {
            let found = super::KeyPath::default().to_string();
            Err((Refusal::NotAMapping { found }, node.span))
        }
    }
}

/// Refuses a new `key` that is the name in JSON of a key of `entries` that is no text: history could not tell
/// the two apart.
pub(super) fn refuse_same_name(
    context: &Context<'_, '_>,
    entries: &[Entry<'_>],
    key: &str,
) -> Result<(), (Refusal, Span)> {
    // Numbers and collections begin with no letter.
    let is_word = key.starts_with(|first: char| first.is_alphabetic() || first == '_');
    if is_word && !["null", "true", "false"].contains(&key) {
        return Ok(());
    }
    let is_of_another_type = |entry: &&Entry<'_>| !matches!(entry.key.scalar(), Some(Scalar::String(_)));
    #[cfg(feature = "serde_json")]
    let is_named = |entry: &&Entry<'_>| {
        Value::of(context.yaml, &entry.key).is_ok_and(|value| value.to_json_key() == key)
    };
    #[cfg(not(feature = "serde_json"))]
    let is_named = |entry: &&Entry<'_>| context.file[entry.key.span.range()] == *key.as_bytes();
    match entries.iter().filter(is_of_another_type).find(is_named) {
        Some(entry) => {
            let written = String::from_utf8_lossy(&context.file[entry.key.span.range()]).into();
            Err((Refusal::SameNameInJson { key: key.into(), written }, entry.key.span))
        }
        None => Ok(()),
    }
}

/// The first entry of a region that holds blanks and comments at most.
fn first_entry(context: &Context<'_, '_>, key: &str, value: Value) -> Change {
    let lines = entry_lines(context, "", key, &value, Quote::Plain);
    let end = context.end();
    let after_text = end > context.start() && !matches!(context.file[end - 1], b'\n' | b'\r');
    let splices = vec![context.lines_at(end, after_text, &lines)];
    Change {
        splices,
        meaning: Meaning::Replaced { place: Vec::new(), value: Value::mapping([(key, value)]) },
    }
}

/// `key: value` at `indent`, over several lines where the value is a mapping or a list in a document of block
/// lists.
pub(super) fn entry_lines(
    context: &Context<'_, '_>,
    indent: &str,
    key: &str,
    value: &Value,
    quote: Quote,
) -> String {
    let key = spell::string(key, Quote::Plain, Place::Block);
    format!("{indent}{key}:{}", behind_key(context, indent, value, quote))
}

/// The text behind the colon of a key at `indent`, from the blank or line end on.
pub(super) fn behind_key(context: &Context<'_, '_>, indent: &str, value: &Value, quote: Quote) -> String {
    let line_ending = context.line_ending.as_str();
    match value {
        Value::Mapping(entries) if !entries.is_empty() => {
            let deeper = format!("{indent}  ");
            format!("{line_ending}{}", spell::block_mapping(entries, &deeper, quote, context.line_ending))
        }
        Value::Sequence(items) if !items.is_empty() => {
            let quote = spell::quote_for_item(context, &[]);
            match spell::list_style(context) {
                ListStyle::Flow => format!(" {}", spell::inline(value, quote, Place::Block)),
                ListStyle::Block { dash_indent } => {
                    let dash = format!("{line_ending}{indent}{}- ", " ".repeat(dash_indent));
                    items
                        .iter()
                        .map(|item| format!("{dash}{}", spell::inline(item, quote, Place::Block)))
                        .collect()
                }
            }
        }
        value => format!(" {}", spell::inline(value, quote, Place::Block)),
    }
}

/// Adds `text` behind the last of the `children` of the flow collection `whole`, of which the last two are
/// enough, with the separator, the lines and the trailing comma that the collection has.
pub(super) fn flow_add(context: &Context<'_, '_>, whole: Span, children: &[Span], text: &str) -> Vec<Splice> {
    let file = context.file;
    let Some(last) = children.last() else {
        let inside = Span::new(whole.start + 1, whole.end - 1);
        // Blanks between the brackets are no style to keep; a comment there is kept by refusing.
        return vec![Splice { span: inside, text: text.to_owned() }];
    };
    let start_of_line = line_start(file, last.start, context.start());
    let own_line = start_of_line > whole.start && is_blank(file, Span::new(start_of_line, last.start));
    let separator = if own_line {
        let indent = String::from_utf8_lossy(&file[start_of_line..last.start]).into_owned();
        format!("{}{indent}", context.line_ending.as_str())
    } else {
        separator_blanks(file, children)
    };
    let end = behind_empty_value(file, last.end);
    let end_of_line = line_end(file, end, whole.end.max(end));
    let blank = if file[end - 1] == b':' { " " } else { "" };
    let rest = &file[end..end_of_line];
    if own_line && rest.contains(&b'#') {
        // A comment belongs to the item before it: the new item goes below.
        let text = |comma: &str| format!("{separator}{text}{comma}");
        let below = end_of_line - rest.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        return if rest.trim_ascii_start().starts_with(b",") {
            vec![Splice { span: Span::at(below), text: text(",") }]
        } else {
            let comma = Splice { span: Span::at(end), text: format!("{blank},") };
            vec![comma, Splice { span: Span::at(below), text: text("") }]
        };
    }
    vec![Splice { span: Span::at(end), text: format!("{blank},{separator}{text}") }]
}

/// The blanks behind the comma between the last two children; one space without evidence.
fn separator_blanks(file: &[u8], children: &[Span]) -> String {
    let [.., one, other] = children else { return " ".to_owned() };
    let between = &file[one.end..other.start];
    match between.iter().position(|byte| *byte == b',') {
        Some(comma) if between[comma + 1..].iter().all(|byte| *byte == b' ') => {
            " ".repeat(between.len() - comma - 1)
        }
        _ => " ".to_owned(),
    }
}

/// The spans of the last two items of a sequence with anchors and tags.
pub(super) fn last_spans(context: &Context<'_, '_>, items: &[Node<'_>]) -> Vec<Span> {
    let items = &items[items.len().saturating_sub(2)..];
    items.iter().map(|item| Span::new(item.outer_start(), content_end(context.file, item))).collect()
}
