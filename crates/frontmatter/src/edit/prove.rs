//! The proof of a batch of edits: the tree after it is the tree before it with the meant changes, no comment
//! is lost, and every strict reader of the text before can read the text after.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Change, Refusal,
    locate::{dash, entry_start, is_blank, line_start},
    rewrite,
};
use crate::{
    CollectionStyle, Entry, Node, NodeKind, Scalar, ScalarStyle, Span, Value, Yaml, parse::Comment,
    scan::lines_from,
};

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

/// The number of flow nodes of a region that are indented less than the reference asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Looseness {
    /// Nodes of which only the line of the closing bracket stands at the column of the key.
    brackets: usize,
    /// All other.
    others: usize,
}

/// Returns whether every strict reader that reads `before` can read `after`, as far as indentation goes.
pub(super) fn is_as_strict(before: (&[u8], &Yaml<'_>), after: (&[u8], &Yaml<'_>)) -> bool {
    let after = Looseness::of(after.0, after.1);
    if after == Looseness::default() {
        return true;
    }
    let before = Looseness::of(before.0, before.1);
    after.others <= before.others && after.brackets + after.others <= before.brackets + before.others
}

impl Looseness {
    fn of(file: &[u8], yaml: &Yaml<'_>) -> Self {
        let mut found = Self::default();
        if let Some(root) = yaml.root() {
            found.add(file, yaml, root, 0);
        }
        found
    }

    /// Adds the flow nodes of `node`, whose lines must stand at `column` or behind it.
    fn add(&mut self, file: &[u8], yaml: &Yaml<'_>, node: &Node<'_>, column: usize) {
        let floor = yaml.span().start;
        let column_of = |offset: usize| offset - line_start(file, offset, floor);
        match &node.kind {
            NodeKind::Mapping { style: CollectionStyle::Block, entries } => {
                for entry in entries {
                    let start = entry_start(file, entry, floor);
                    // A key without a `?` stands on one line.
                    if start < entry.key.outer_start() {
                        self.add(file, yaml, &entry.key, column_of(start) + 1);
                    }
                    self.add(file, yaml, &entry.value, column_of(start) + 1);
                }
            }
            NodeKind::Sequence { style: CollectionStyle::Block, items } => {
                for item in items {
                    let column = dash(file, item, floor).map_or(column, |dash| column_of(dash) + 1);
                    self.add(file, yaml, item, column);
                }
            }
            NodeKind::Scalar { style: ScalarStyle::Literal | ScalarStyle::Folded, .. }
            | NodeKind::Alias { .. } => {}
            _ => self.add_flow(file, yaml, node, column),
        }
    }

    fn add_flow(&mut self, file: &[u8], yaml: &Yaml<'_>, node: &Node<'_>, column: usize) {
        if column == 0 || node.is_empty_value() {
            return;
        }
        let start = line_start(file, node.span.start, yaml.span().start);
        let from = if is_blank(file, Span::new(start, node.span.start)) { start } else { node.span.start };
        let loose = |line: Span, is_first: bool| -> bool {
            let text = &file[line.range()];
            let spaces = text.iter().take_while(|byte| **byte == b' ').count();
            let visible = text.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
            let is_comment = |at: usize| {
                let is_here =
                    yaml.comments().binary_search_by_key(&(line.start + at), |comment| comment.span.start);
                text[at] == b'#' && is_here.is_ok()
            };
            spaces < column && (!is_first || from == start) && visible.is_some_and(|at| !is_comment(at))
        };
        let lines = lines_from(&file[..node.span.end], from).enumerate();
        let mut found =
            lines.filter(|(place, line)| loose(line.content, *place == 0)).map(|(_, line)| line.content);
        match (found.next(), found.next()) {
            (None, _) => {}
            (Some(line), None) if line.end == node.span.end && is_bracket(&file[line.range()], column) => {
                self.brackets += 1;
            }
            _ => self.others += 1,
        }
    }
}

/// Returns whether `line` is a closing bracket one column left of `column`.
fn is_bracket(line: &[u8], column: usize) -> bool {
    line.len() == column && matches!(line.last(), Some(b']' | b'}'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::Comments;

    fn looseness(text: &str) -> (usize, usize) {
        let yaml = Yaml::parse_with(text.as_bytes(), Span::new(0, text.len()), Comments::Keep).unwrap();
        let Looseness { brackets, others } = Looseness::of(text.as_bytes(), &yaml);
        (brackets, others)
    }

    #[test]
    fn lines_of_a_flow_node_stand_behind_their_key() {
        for (text, wanted) in [
            ("s: [1,\n 2]\nt: 'a\n b'\n", (0, 0)),
            ("s: [\n\n# c\n 1 # d\n ]\n", (0, 0)),
            ("s: [\n  1\n]\n", (1, 0)),
            ("s: {\n  a: 1\n}\nt: [\n]\n", (2, 0)),
            ("s: [\n1\n]\n", (0, 1)),
            ("s: [\n  1\n, ]\n", (0, 1)),
            ("[\n1\n]\n", (0, 0)),
            ("o:\n  s: [\n    1\n  ]\n", (1, 0)),
            ("o:\n  s: [\n    1\n ]\n", (0, 1)),
            ("o:\n- a: [\n    1\n  ]\n- [2,\n 3]\n", (1, 0)),
            ("- - [2,\n   3]\n- - [2,\n  3]\n", (0, 1)),
            ("? [1,\n2]\n: [3,\n 4]\n", (0, 1)),
            ("s: |\n a\nt: *x\n", (0, 0)),
        ] {
            assert_eq!(looseness(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn what_was_loose_may_stay_so() {
        let as_strict = |before: &str, after: &str| {
            let read = |text: &'static str| {
                (text, Yaml::parse_with(text.as_bytes(), Span::new(0, text.len()), Comments::Keep).unwrap())
            };
            let leak = |text: &str| -> &'static str { text.to_owned().leak() };
            let (before, after) = (read(leak(before)), read(leak(after)));
            is_as_strict((before.0.as_bytes(), &before.1), (after.0.as_bytes(), &after.1))
        };
        assert!(as_strict("s: [\n 1\n]\n", "s: [\n 1, 2\n]\n"));
        assert!(as_strict("s: [\n1\n]\n", "s: [\n1,\n2\n]\n"));
        assert!(as_strict("s: [\n1\n]\n", "s: [\n 1\n]\n"));
        assert!(!as_strict("s: [\n 1 ]\n", "s: [\n 1\n]\n"));
        assert!(!as_strict("s: [\n 1,\n 2\n]\n", "s: [\n 1\n, ]\n"));
    }
}
