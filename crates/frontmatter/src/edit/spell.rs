//! Values → YAML text that every reader of the field reads back as the same value.

use std::cell::OnceCell;

use super::{Context, locate};
use crate::{CollectionStyle, LineEnding, Node, NodeKind, Scalar, ScalarStyle, Value, yaml_1_1};

/// The quotes that a string gets if it can bear them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Quote {
    Plain,
    Single,
    Double,
}

/// The context of a new scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Between brackets or braces: `,[]{}` end a plain scalar.
    Flow,
    /// On a line of its own or behind a key.
    Block,
}

/// `value` on one line; collections in brackets.
pub(super) fn inline(value: &Value, quote: Quote, place: Place) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => float(*value),
        Value::Number(text) => text.clone(),
        Value::String(text) => string(text, quote, place),
        Value::Sequence(items) => {
            let items: Vec<_> = items.iter().map(|item| inline(item, quote, Place::Flow)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Mapping(entries) => {
            let entry = |(key, value): &(Value, Value)| {
                format!("{}: {}", inline(key, Quote::Plain, Place::Flow), inline(value, quote, Place::Flow))
            };
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A float as YAML 1.1 and 1.2 read it: with a point, and with a sign in its exponent.
fn float(value: f64) -> String {
    let text = format!("{value:?}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let point = if digits.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{digits}{point}e{sign}{exponent}")
}

/// The lines of a block mapping at `indent`, without the last line end. Empty collections and lists stay
/// inline.
pub(super) fn block_mapping(
    entries: &[(Value, Value)],
    indent: &str,
    quote: Quote,
    line_ending: LineEnding,
) -> String {
    let line = |(key, value): &(Value, Value)| {
        let key = inline(key, Quote::Plain, Place::Block);
        match value {
            Value::Mapping(inner) if !inner.is_empty() => {
                let deeper = format!("{indent}  ");
                let inner = block_mapping(inner, &deeper, quote, line_ending);
                format!("{indent}{key}:{}{inner}", line_ending.as_str())
            }
            value => format!("{indent}{key}: {}", inline(value, quote, Place::Block)),
        }
    };
    entries.iter().map(line).collect::<Vec<_>>().join(line_ending.as_str())
}

/// A string in the wanted quotes, or in the next ones that can hold it: plain → single → double.
pub(super) fn string(text: &str, quote: Quote, place: Place) -> String {
    let needs_escapes = text.chars().any(needs_escape);
    match quote {
        Quote::Plain if !needs_escapes && is_safe_plain(text, place) => text.to_owned(),
        Quote::Plain | Quote::Single if !needs_escapes => format!("'{}'", text.replace('\'', "''")),
        _ => double_quoted(text),
    }
}

/// Characters that only a double-quoted scalar can carry on one line, or that a YAML 1.1 reader takes for a
/// line end.
fn needs_escape(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(c, '\t' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if needs_escape(c) && u32::from(c) <= 0xFF => {
                quoted.push_str(&format!("\\x{:02X}", u32::from(c)))
            }
            c if needs_escape(c) => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns whether `text` without quotes is read as this very string by YAML 1.2 *and* 1.1 readers.
fn is_safe_plain(text: &str, place: Place) -> bool {
    let Some(first) = text.chars().next() else { return false };
    if matches!(
        first,
        '-' | '?' | ':' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' | '=' | ' '
    ) || matches!(first, ',' | '[' | ']' | '{' | '}')
        || text.ends_with([' ', ':'])
        || text.contains(": ")
        || text.contains(" #")
        || text.starts_with("...")
        || text == "<<"
    {
        return false;
    }
    // `a:b` in a flow collection is read differently by different readers.
    if place == Place::Flow && text.contains([',', '[', ']', '{', '}', ':']) {
        return false;
    }
    matches!(Scalar::resolve(text), Scalar::String(_)) && !yaml_1_1::may_be_no_text(text)
}

/// The habits of a region.
#[derive(Debug, Default)]
pub(super) struct Habits {
    quote: OnceCell<Quote>,
    quote_in_lists: OnceCell<Option<Quote>>,
    list: OnceCell<ListStyle>,
}

/// The quotes of a new item: those of the nearest text before it in its list, else of text in any list, else
/// of the text values of the document.
pub(super) fn quote_for_item(context: &Context<'_, '_>, siblings: &[Node<'_>]) -> Quote {
    let of_siblings = siblings.iter().rev().find_map(quote_of);
    let of_lists = || nodes(context).flat_map(Node::items).find_map(quote_of);
    of_siblings
        .or_else(|| *context.habits.quote_in_lists.get_or_init(of_lists))
        .unwrap_or_else(|| common_quote(context))
}

/// The quotes of a new value that replaces `old`: the same, else those of the document's text values.
pub(super) fn quote_for_value(context: &Context<'_, '_>, old: Option<&Node<'_>>) -> Quote {
    match old.map(|old| &old.kind) {
        Some(NodeKind::Scalar { style: ScalarStyle::SingleQuoted, .. }) => Quote::Single,
        Some(NodeKind::Scalar { style: ScalarStyle::DoubleQuoted, .. }) => Quote::Double,
        Some(NodeKind::Scalar { .. }) if old.is_some_and(|old| !old.is_null()) => Quote::Plain,
        Some(NodeKind::Sequence { items, .. }) => quote_for_item(context, items),
        _ => common_quote(context),
    }
}

/// The most frequent quotes of the text values; without evidence none.
fn common_quote(context: &Context<'_, '_>) -> Quote {
    *context.habits.quote.get_or_init(|| find_common_quote(context))
}

fn find_common_quote(context: &Context<'_, '_>) -> Quote {
    let values = nodes(context).flat_map(Node::entries).filter_map(|entry| quote_of(&entry.value));
    let mut counts = [0_usize; 3];
    for quote in values {
        counts[quote as usize] += 1;
    }
    let [plain, single, double] = counts;
    if single > plain && single >= double {
        Quote::Single
    } else if double > plain {
        Quote::Double
    } else {
        Quote::Plain
    }
}

/// The quotes of a text scalar; `None` for numbers, collections and block scalars.
pub(super) fn quote_of(node: &Node<'_>) -> Option<Quote> {
    match &node.kind {
        NodeKind::Scalar { style: ScalarStyle::SingleQuoted, .. } => Some(Quote::Single),
        NodeKind::Scalar { style: ScalarStyle::DoubleQuoted, .. } => Some(Quote::Double),
        NodeKind::Scalar { style: ScalarStyle::Plain, .. } => {
            matches!(node.scalar(), Some(crate::Scalar::String(_))).then_some(Quote::Plain)
        }
        _ => None,
    }
}

/// The style of a new list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListStyle {
    Flow,
    /// Dashes, this many columns to the right of their key.
    Block {
        dash_indent: usize,
    },
}

/// The style of the first list of the document that has items; brackets without evidence, as the templates of
/// the field have them.
pub(super) fn list_style(context: &Context<'_, '_>) -> ListStyle {
    *context.habits.list.get_or_init(|| find_list_style(context))
}

fn find_list_style(context: &Context<'_, '_>) -> ListStyle {
    let entries = nodes(context).flat_map(Node::entries);
    let mut lists = entries.filter_map(|entry| match &entry.value.kind {
        NodeKind::Sequence { style, items } => Some((entry, style, items.first()?)),
        _ => None,
    });
    let Some((entry, CollectionStyle::Block, item)) = lists.next() else { return ListStyle::Flow };
    let floor = context.yaml.span().start;
    let column = |offset: usize| offset - locate::line_start(context.file, offset, floor);
    let Some(dash) = locate::dash(context.file, item, floor) else { return ListStyle::Flow };
    ListStyle::Block {
        dash_indent: column(dash).saturating_sub(column(locate::entry_start(context.file, entry, floor))),
    }
}

fn nodes<'t, 'a>(context: &Context<'t, 'a>) -> impl Iterator<Item = &'t Node<'a>> + use<'t, 'a> {
    context.yaml.root().into_iter().flat_map(Node::descend)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Span, Yaml};

    #[test]
    fn quotes_only_what_some_reader_would_misread() {
        for (text, plain) in [
            ("step-01-init", "step-01-init"),
            ("02b", "02b"),
            ("01-init", "01-init"),
            ("in progress", "in progress"),
            ("a:b", "a:b"),
            ("über", "über"),
            ("1.10", "'1.10'"),
            ("NO", "'NO'"),
            ("12:30", "'12:30'"),
            ("0123456", "'0123456'"),
            ("123e4567", "'123e4567'"),
            ("1_000", "'1_000'"),
            ("2026-11-21", "'2026-11-21'"),
            ("2026-11-21T10:00:00Z", "'2026-11-21T10:00:00Z'"),
            ("edit-2026-02-24", "edit-2026-02-24"),
            ("", "''"),
            ("null", "'null'"),
            ("it's", "it's"),
            ("'a'", "'''a'''"),
            ("- a", "'- a'"),
            ("a # b", "'a # b'"),
            ("a: b", "'a: b'"),
            ("*.md", "'*.md'"),
            ("a\nb", "\"a\\nb\""),
            ("a\u{2028}b", "\"a\\u2028b\""),
            ("{x}", "'{x}'"),
        ] {
            assert_eq!(string(text, Quote::Plain, Place::Block), plain, "{text}");
        }
        assert_eq!(string("a, b", Quote::Plain, Place::Flow), "'a, b'");
        assert_eq!(string("a", Quote::Double, Place::Flow), "\"a\"");
    }

    #[test]
    fn floats_are_floats_to_every_reader() {
        for (value, wanted) in
            [(1.5, "1.5"), (1.0, "1.0"), (1e16, "1.0e+16"), (1.5e-9, "1.5e-9"), (-2e300, "-2.0e+300")]
        {
            assert_eq!(inline(&Value::Float(value), Quote::Plain, Place::Block), wanted);
            assert_eq!(Scalar::resolve(wanted), Scalar::Float(value));
        }
    }

    proptest::proptest! {
        /// Whatever the text and the wanted quotes, it is read back as that text.
        #[test]
        fn every_string_is_read_back(text in "\\PC*|[ -~\\n\\t\\r\u{85}\u{2028}'\"#:-]*", quote in 0..3, flow: bool) {
            let quote = [Quote::Plain, Quote::Single, Quote::Double][quote as usize];
            let place = if flow { Place::Flow } else { Place::Block };
            let spelled = string(&text, quote, place);
            let source = if flow { format!("a: [{spelled}]\n") } else { format!("a: {spelled}\n") };
            let yaml = Yaml::parse(source.as_bytes(), Span::new(0, source.len())).unwrap();
            let value = yaml.root().unwrap().get("a").unwrap();
            let value = value.items().first().unwrap_or(value);
            proptest::prop_assert_eq!(value.scalar(), Some(Scalar::String(&text)));
        }
    }
}
