//! The proof of an edit: the tree after it is the tree before it with the meant change, and no comment is lost.

use std::{collections::BTreeMap, ops::Bound};

use super::{Change, Refusal, rewrite};
use crate::document::{CollectionStyle, Entry, Node, NodeKind, Scalar, Span, Value, Yaml, parse::Comment};

/// What an edit means for the tree. `place` leads from the root to a collection or value by child numbers.
#[derive(Debug)]
pub(super) enum Meaning {
    /// The value at `place` becomes `value`.
    Replaced { place: Vec<usize>, value: Value },
    /// The mapping at `place` has a new entry before the entry `index`, or at its end.
    EntryAdded { place: Vec<usize>, index: usize, key: String, value: Value },
    /// The sequence at `place` has a new item before the item `index`.
    ItemAdded { place: Vec<usize>, index: usize, item: Value },
    /// The collection at `place` lacks its child `index`; `own` are the bytes whose comments may go with it.
    Removed { place: Vec<usize>, index: usize, own: Span },
    /// The entries that the splices touch are others; the whole says `state`.
    Rewritten { state: serde_json::Value },
}

impl Meaning {
    fn place(&self) -> &[usize] {
        match self {
            Self::Replaced { place, .. }
            | Self::EntryAdded { place, .. }
            | Self::ItemAdded { place, .. }
            | Self::Removed { place, .. } => place,
            Self::Rewritten { .. } => &[],
        }
    }
}

/// Proves that `after` is `before` with `change`.
///
/// # Errors
/// With the comment that would be lost or joined with another, or without a reason when a value would differ.
pub(super) fn prove(before: &Yaml<'_>, after: &Yaml<'_>, change: &Change) -> Result<(), Refusal> {
    if let Meaning::Rewritten { state } = &change.meaning {
        return rewrite::prove(before, after, &change.splices, state);
    }
    if after.documents() > 1 || !same_tree(before, after, change) {
        return Err(Refusal::NotProven);
    }
    match lost_comment(before.comments(), after.comments(), change) {
        None => Ok(()),
        Some(text) => Err(Refusal::CommentLost { text: text.trim().to_owned() }),
    }
}

fn same_tree(before: &Yaml<'_>, after: &Yaml<'_>, change: &Change) -> bool {
    match (before.root(), after.root(), &change.meaning) {
        (Some(before), Some(after), meaning) => changed(before, after, meaning.place(), meaning),
        (None, Some(after), Meaning::Replaced { place, value }) => place.is_empty() && is_value(after, value),
        // The last entry of the root is gone.
        (Some(before), None, Meaning::Removed { place, .. }) => {
            place.is_empty() && before.entries().len() == 1
        }
        _ => false,
    }
}

/// Whether `after` is `before` with each of `replaced` at its place, and all comments.
pub(super) fn prove_replaced(
    before: &Yaml<'_>,
    after: &Yaml<'_>,
    replaced: &BTreeMap<Vec<usize>, Value>,
) -> bool {
    let texts =
        |yaml: &Yaml<'_>| yaml.comments().iter().map(|comment| comment.text.to_string()).collect::<Vec<_>>();
    let is_same_tree = match (before.root(), after.root()) {
        (Some(before), Some(after)) => same_but(before, after, &mut Vec::new(), replaced),
        (None, None) => replaced.is_empty(),
        _ => false,
    };
    after.documents() <= 1 && is_same_tree && texts(before) == texts(after)
}

/// Whether two nodes at `place` say the same, but for what is replaced in them.
fn same_but(
    before: &Node<'_>,
    after: &Node<'_>,
    place: &mut Vec<usize>,
    replaced: &BTreeMap<Vec<usize>, Value>,
) -> bool {
    let next = replaced.range::<[usize], _>((Bound::Included(place.as_slice()), Bound::Unbounded)).next();
    match next {
        Some((at, value)) if at == place => {
            return before.anchor() == after.anchor() && is_value(after, value);
        }
        Some((at, _)) if at.starts_with(place) => {}
        _ => return same(before, after),
    }
    if before.anchor() != after.anchor() || before.tag().is_some() != after.tag().is_some() {
        return false;
    }
    let mut is_same_inside = |index: usize, before: &Node<'_>, after: &Node<'_>| {
        place.push(index);
        let is_same = same_but(before, after, place, replaced);
        place.pop();
        is_same
    };
    match (&before.kind, &after.kind) {
        (NodeKind::Mapping { entries: old, .. }, NodeKind::Mapping { entries: new, .. }) => {
            same_style(before, after)
                && old.len() == new.len()
                && old.iter().zip(new).enumerate().all(|(index, (old, new))| {
                    same(&old.key, &new.key) && is_same_inside(index, &old.value, &new.value)
                })
        }
        (NodeKind::Sequence { items: old, .. }, NodeKind::Sequence { items: new, .. }) => {
            same_style(before, after)
                && old.len() == new.len()
                && old.iter().zip(new).enumerate().all(|(index, (old, new))| is_same_inside(index, old, new))
        }
        _ => false,
    }
}

/// The first comment that is not the same in the same order; a removal may take along those on the lines of the
/// removed child.
fn lost_comment<'a>(before: &'a [Comment<'_>], after: &'a [Comment<'_>], change: &Change) -> Option<&'a str> {
    let goes = |comment: &Comment<'_>| match change.meaning {
        Meaning::Removed { own, .. } => {
            own.holds(comment.span) && change.splices.iter().any(|splice| splice.span.holds(comment.span))
        }
        _ => false,
    };
    let mut kept = before.iter().filter(|comment| !goes(comment)).map(|comment| &*comment.text);
    let mut found = after.iter().map(|comment| &*comment.text);
    loop {
        match (kept.next(), found.next()) {
            (None, None) => return None,
            (Some(one), Some(other)) if one == other => {}
            (Some(lost), _) => return Some(lost),
            (None, Some(new)) => return Some(new),
        }
    }
}

fn changed(before: &Node<'_>, after: &Node<'_>, place: &[usize], meaning: &Meaning) -> bool {
    let Some((&step, deeper)) = place.split_first() else { return changed_here(before, after, meaning) };
    if before.anchor() != after.anchor() || before.tag().is_some() != after.tag().is_some() {
        return false;
    }
    match (&before.kind, &after.kind) {
        (NodeKind::Mapping { entries: old, .. }, NodeKind::Mapping { entries: new, .. }) => {
            old.len() == new.len()
                && old.iter().zip(new).enumerate().all(|(index, (old, new))| {
                    same(&old.key, &new.key)
                        && if index == step {
                            changed(&old.value, &new.value, deeper, meaning)
                        } else {
                            same(&old.value, &new.value)
                        }
                })
        }
        (NodeKind::Sequence { items: old, .. }, NodeKind::Sequence { items: new, .. }) => {
            old.len() == new.len()
                && old.iter().zip(new).enumerate().all(|(index, (old, new))| {
                    if index == step { changed(old, new, deeper, meaning) } else { same(old, new) }
                })
        }
        _ => false,
    }
}

fn changed_here(before: &Node<'_>, after: &Node<'_>, meaning: &Meaning) -> bool {
    if before.anchor() != after.anchor() {
        return false;
    }
    match meaning {
        Meaning::Replaced { value, .. } => is_value(after, value),
        Meaning::EntryAdded { index, key, value, .. } => {
            let (old, new) = (before.entries(), after.entries());
            let is_same = |(old, new): (&Entry<'_>, &Entry<'_>)| {
                same(&old.key, &new.key) && same(&old.value, &new.value)
            };
            same_style(before, after)
                && new.len() == old.len() + 1
                && old[..*index].iter().zip(new).all(is_same)
                && new[*index].key.as_key() == Some(key)
                && is_value(&new[*index].value, value)
                && old[*index..].iter().zip(&new[index + 1..]).all(is_same)
        }
        Meaning::ItemAdded { index, item, .. } => {
            let (old, new) = (before.items(), after.items());
            same_style(before, after)
                && new.len() == old.len() + 1
                && old[..*index].iter().zip(new).all(|(old, new)| same(old, new))
                && is_value(&new[*index], item)
                && old[*index..].iter().zip(&new[index + 1..]).all(|(old, new)| same(old, new))
        }
        Meaning::Removed { index, .. } => removed(before, after, *index),
        // It has a proof of its own.
        Meaning::Rewritten { .. } => false,
    }
}

fn removed(before: &Node<'_>, after: &Node<'_>, index: usize) -> bool {
    match (&before.kind, &after.kind) {
        (NodeKind::Mapping { entries: old, .. }, NodeKind::Mapping { entries: new, .. }) => {
            let kept = old.iter().enumerate().filter(|(place, _)| *place != index).map(|(_, entry)| entry);
            new.len() + 1 == old.len()
                && kept.zip(new).all(|(old, new)| same(&old.key, &new.key) && same(&old.value, &new.value))
        }
        (NodeKind::Sequence { items: old, .. }, NodeKind::Sequence { items: new, .. }) => {
            let kept = old.iter().enumerate().filter(|(place, _)| *place != index).map(|(_, item)| item);
            new.len() + 1 == old.len() && kept.zip(new).all(|(old, new)| same(old, new))
        }
        _ => false,
    }
}

/// A collection that was not empty keeps its brackets or its lines.
fn same_style(before: &Node<'_>, after: &Node<'_>) -> bool {
    style(before) == style(after)
}

fn style(node: &Node<'_>) -> Option<CollectionStyle> {
    match node.kind {
        NodeKind::Sequence { style, .. } | NodeKind::Mapping { style, .. } => Some(style),
        NodeKind::Scalar { .. } | NodeKind::Alias { .. } => None,
    }
}

/// Whether two nodes say the same in the same style.
fn same(one: &Node<'_>, other: &Node<'_>) -> bool {
    if one.anchor() != other.anchor() || one.tag().is_some() != other.tag().is_some() {
        return false;
    }
    match (&one.kind, &other.kind) {
        (NodeKind::Scalar { style: a, text: x }, NodeKind::Scalar { style: b, text: y }) => a == b && x == y,
        (NodeKind::Alias { name: x }, NodeKind::Alias { name: y }) => x == y,
        (NodeKind::Sequence { style: a, items: x }, NodeKind::Sequence { style: b, items: y }) => {
            a == b && x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        (NodeKind::Mapping { style: a, entries: x }, NodeKind::Mapping { style: b, entries: y }) => {
            a == b
                && x.len() == y.len()
                && x.iter().zip(y).all(|(x, y)| same(&x.key, &y.key) && same(&x.value, &y.value))
        }
        _ => false,
    }
}

/// Whether two entries say the same in the same style.
pub(super) fn same_entry(one: &Entry<'_>, other: &Entry<'_>) -> bool {
    same(&one.key, &other.key) && same(&one.value, &other.value)
}

/// Whether `node` says `value`.
pub(super) fn is_value(node: &Node<'_>, value: &Value) -> bool {
    match (&node.kind, value) {
        (NodeKind::Scalar { text, .. }, Value::String(wanted)) => {
            text == wanted && matches!(node.scalar(), Some(Scalar::String(_)))
        }
        (NodeKind::Scalar { .. }, value) => node.scalar().is_some_and(|scalar| Value::from(scalar) == *value),
        (NodeKind::Sequence { items, .. }, Value::Sequence(wanted)) => {
            items.len() == wanted.len()
                && items.iter().zip(wanted).all(|(item, wanted)| is_value(item, wanted))
        }
        (NodeKind::Mapping { entries, .. }, Value::Mapping(wanted)) => {
            entries.len() == wanted.len()
                && entries
                    .iter()
                    .zip(wanted)
                    .all(|(entry, (key, value))| is_value(&entry.key, key) && is_value(&entry.value, value))
        }
        _ => false,
    }
}
