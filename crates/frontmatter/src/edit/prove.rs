//! The proof of a batch of edits: the tree after it is the tree before it with the meant changes, no comment
//! is lost, and every strict reader of the text before can read the text after.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, Refusal, rewrite, strict::is_as_strict};
use crate::{CollectionStyle, Entry, Node, NodeKind, Scalar, ScalarStyle, Span, Value, Yaml, parse::Comment};

/// The effect of an edit on the tree. `place` leads from the root to a collection or value by child numbers.
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
    /// The entries that the splices touch are others.
    Rewritten,
    /// The region is another, and nothing behind it.
    PutBack,
}

/// Proves that `after` is `before` with all of `changes`, which were planned on `before` and are independent
/// of each other.
///
/// # Errors
/// With the comment that would be lost or joined with another, or without a reason when a value would differ.
pub(super) fn prove(
    (file_before, before): (&[u8], &Yaml<'_>),
    (file_after, after): (&[u8], &Yaml<'_>),
    changes: &[Change],
) -> Result<(), Refusal> {
    // Text that stood there before, so strict readers have read it, or not, already.
    match changes {
        [Change { splices, meaning: Meaning::Rewritten }] => return rewrite::prove(before, after, splices),
        [Change { splices, meaning: Meaning::PutBack }] => return rewrite::prove_end(before, after, splices),
        _ => {}
    }
    if after.documents() > 1 || !same_tree(before, after, &Patch::of(changes)) {
        return Err(Refusal::NotProven);
    }
    if !is_as_strict((file_before, before), (file_after, after)) {
        let what =
            "strict readers would not read the result: its lines would stand left of where YAML wants them";
        return Err(Refusal::Layout { what });
    }
    match lost_comment(before.comments(), after.comments(), &may_go(changes)) {
        None => Ok(()),
        Some(text) => Err(Refusal::CommentLost { text: text.trim().to_owned() }),
    }
}

/// The changes of a node, gathered from all changes in it and below.
#[derive(Debug, Default)]
struct Patch<'c> {
    /// The value that it becomes.
    replaced: Option<&'c Value>,
    /// Children that go.
    removed: BTreeSet<usize>,
    /// Children that come, before the old child of that number: their keys, where they have one, and values.
    added: BTreeMap<usize, Vec<(Option<&'c str>, &'c Value)>>,
    /// The changes of the children that stay.
    inside: BTreeMap<usize, Patch<'c>>,
}

impl<'c> Patch<'c> {
    fn of(changes: &'c [Change]) -> Self {
        let mut root = Self::default();
        for change in changes {
            match &change.meaning {
                Meaning::Replaced { place, value } => root.at(place).replaced = Some(value),
                Meaning::EntryAdded { place, index, key, value } => {
                    root.at(place).added.entry(*index).or_default().push((Some(key.as_str()), value));
                }
                Meaning::ItemAdded { place, index, item } => {
                    root.at(place).added.entry(*index).or_default().push((None, item));
                }
                Meaning::Removed { place, index, .. } => {
                    root.at(place).removed.insert(*index);
                }
                // They stand alone, and have proofs of their own.
                Meaning::Rewritten | Meaning::PutBack => {}
            }
        }
        root
    }

    fn at(&mut self, place: &[usize]) -> &mut Self {
        place.iter().fold(self, |patch, step| patch.inside.entry(*step).or_default())
    }

    /// Returns whether a collection of `old` children becomes one of `new`: `is_kept` compares an old child
    /// with a new one, `is_added` a new one with what it should be.
    fn leads(
        &self,
        (old, new): (usize, usize),
        is_kept: impl Fn(usize, usize, Option<&Self>) -> bool,
        is_added: impl Fn(usize, Option<&str>, &Value) -> bool,
    ) -> bool {
        let mut now = 0;
        for place in 0..=old {
            for (key, value) in self.added.get(&place).into_iter().flatten() {
                if now == new || !is_added(now, *key, value) {
                    return false;
                }
                now += 1;
            }
            if place == old || self.removed.contains(&place) {
                continue;
            }
            if now == new || !is_kept(place, now, self.inside.get(&place)) {
                return false;
            }
            now += 1;
        }
        now == new
    }
}

fn same_tree(before: &Yaml<'_>, after: &Yaml<'_>, patch: &Patch<'_>) -> bool {
    match (before.root(), after.root()) {
        (Some(before), Some(after)) => changed(before, after, Some(patch)),
        (None, Some(after)) => patch.replaced.is_some_and(|value| is_value(after, value)),
        // The last entry of the root is gone.
        (Some(before), None) => before.entries().len() == 1 && patch.removed.contains(&0),
        (None, None) => false,
    }
}

/// Returns whether `after` says what `before` says with the changes of `patch`, in the same style.
fn changed(before: &Node<'_>, after: &Node<'_>, patch: Option<&Patch<'_>>) -> bool {
    let Some(patch) = patch else { return same(before, after) };
    if before.anchor() != after.anchor() {
        return false;
    }
    if let Some(value) = patch.replaced {
        return is_value(after, value);
    }
    if before.tag().is_some() != after.tag().is_some() {
        return false;
    }
    match (&before.kind, &after.kind) {
        (NodeKind::Mapping { entries: old, .. }, NodeKind::Mapping { entries: new, .. }) => {
            keeps_style(before, after, new.is_empty())
                && patch.leads(
                    (old.len(), new.len()),
                    |one, other, patch| {
                        same(&old[one].key, &new[other].key)
                            && changed(&old[one].value, &new[other].value, patch)
                    },
                    |at, key, value| {
                        new[at].key.as_key() == key && key.is_some() && is_value(&new[at].value, value)
                    },
                )
        }
        (NodeKind::Sequence { items: old, .. }, NodeKind::Sequence { items: new, .. }) => {
            keeps_style(before, after, new.is_empty())
                && patch.leads(
                    (old.len(), new.len()),
                    |one, other, patch| changed(&old[one], &new[other], patch),
                    |at, _, value| is_value(&new[at], value),
                )
        }
        _ => false,
    }
}

/// The bytes whose comments may go, in order: on the lines of removed children, and replaced there.
fn may_go(changes: &[Change]) -> Vec<Span> {
    let mut found = Vec::new();
    for change in changes {
        let Meaning::Removed { own, .. } = change.meaning else { continue };
        found.extend(
            change
                .splices
                .iter()
                .map(|splice| Span::new(own.start.max(splice.span.start), own.end.min(splice.span.end))),
        );
    }
    found.sort_unstable();
    found
}

/// The first comment that is not the same in the same order, but for those that may go.
fn lost_comment<'a>(before: &'a [Comment<'_>], after: &'a [Comment<'_>], may_go: &[Span]) -> Option<&'a str> {
    let goes = |comment: &Comment<'_>| {
        let at = may_go.partition_point(|span| span.start <= comment.span.start);
        at > 0 && may_go[at - 1].holds(comment.span)
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

/// A collection keeps its brackets or its lines, unless it becomes empty.
fn keeps_style(before: &Node<'_>, after: &Node<'_>, is_empty: bool) -> bool {
    is_empty || style(before) == style(after)
}

fn style(node: &Node<'_>) -> Option<CollectionStyle> {
    match node.kind {
        NodeKind::Sequence { style, .. } | NodeKind::Mapping { style, .. } => Some(style),
        NodeKind::Scalar { .. } | NodeKind::Alias { .. } => None,
    }
}

/// Returns whether two nodes say the same in the same style.
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

/// Returns whether two entries say the same in the same style.
pub(super) fn same_entry(one: &Entry<'_>, other: &Entry<'_>) -> bool {
    same(&one.key, &other.key) && same(&one.value, &other.value)
}

/// Returns whether `node` says `value`; a number that keeps its spelling is spelled so.
pub(super) fn is_value(node: &Node<'_>, value: &Value) -> bool {
    match (&node.kind, value) {
        (NodeKind::Scalar { text, .. }, Value::String(wanted)) => {
            text == wanted && matches!(node.scalar(), Some(Scalar::String(_)))
        }
        (NodeKind::Scalar { text, style: ScalarStyle::Plain }, Value::Number(wanted)) => {
            let is_number =
                |scalar| matches!(scalar, Scalar::Integer(_) | Scalar::Float(_) | Scalar::Number(_));
            text == wanted && node.scalar().is_some_and(is_number)
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
