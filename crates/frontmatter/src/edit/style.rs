//! The document's own habits: which quotes and which kind of list a new value gets.

use std::cell::OnceCell;

use super::{Context, layout, spell::Quote};
use crate::{CollectionStyle, Node, NodeKind, ScalarStyle};

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
    let column = |offset: usize| offset - layout::line_start(context.file, offset, floor);
    let Some(dash) = layout::dash(context.file, item, floor) else { return ListStyle::Flow };
    ListStyle::Block {
        dash_indent: column(dash).saturating_sub(column(layout::entry_start(context.file, entry, floor))),
    }
}

fn nodes<'t, 'a>(context: &Context<'t, 'a>) -> impl Iterator<Item = &'t Node<'a>> + use<'t, 'a> {
    context.yaml.root().into_iter().flat_map(Node::descend)
}
