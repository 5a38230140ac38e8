//! A path → the node it names, with the collections it lies in.

use std::collections::HashSet;

use super::{Context, Refusal};
use crate::{Entry, KeyPath, Node, NodeKind, Segment, Span, Yaml};

/// The place of a node in its collection.
#[derive(Clone, Copy)]
pub(super) struct Parent<'t, 'a> {
    pub(super) collection: &'t Node<'a>,
    pub(super) index: usize,
}

impl<'t, 'a> Parent<'t, 'a> {
    /// The entry of a mapping.
    pub(super) fn entry(&self) -> Option<&'t Entry<'a>> {
        match &self.collection.kind {
            NodeKind::Mapping { entries, .. } => entries.get(self.index),
            _ => None,
        }
    }
}

/// The node at a path.
pub(super) enum Found<'t, 'a> {
    /// A node; `parents` lead to it from the root.
    Node { node: &'t Node<'a>, parents: Vec<Parent<'t, 'a>> },
    /// Nothing: `deepest` (`None`: the region is empty) is the last node on the way, `missing` the keys below
    /// it.
    Absent { deepest: Option<&'t Node<'a>>, parents: Vec<Parent<'t, 'a>>, missing: Vec<String> },
}

/// Walks `path` from the root. Refuses duplicate keys, aliases, and anchors in use on the way.
pub(super) fn locate<'t, 'a>(
    context: &Context<'t, 'a>,
    path: &KeyPath,
) -> Result<Found<'t, 'a>, (Refusal, Span)> {
    let mut parents = Vec::new();
    let Some(mut node) = context.yaml.root() else {
        return Ok(Found::Absent { deepest: None, parents, missing: keys_of(&path.0, context.yaml.span())? });
    };
    for (depth, segment) in path.0.iter().enumerate() {
        refuse_shared(context, node)?;
        if node.is_null() {
            let missing = keys_of(&path.0[depth..], node.span)?;
            return Ok(Found::Absent { deepest: Some(node), parents, missing });
        }
        let Some(index) = child(context, node, segment, (path, depth))? else {
            let missing = keys_of(&path.0[depth..], node.span)?;
            return Ok(Found::Absent { deepest: Some(node), parents, missing });
        };
        parents.push(Parent { collection: node, index });
        node = match &node.kind {
            NodeKind::Mapping { entries, .. } => &entries[index].value,
            NodeKind::Sequence { items, .. } => &items[index],
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => node,
        };
    }
    // An alias of nothing shares nothing: `globs: **/*.ts`.
    let is_of_nothing = matches!(node.kind, NodeKind::Alias { .. }) && context.yaml.target(node).is_none();
    if !is_of_nothing {
        refuse_shared(context, node)?;
    }
    Ok(Found::Node { node, parents })
}

/// The place of `segment` in `node`; `None` when a mapping lacks the key.
fn child<'t>(
    context: &Context<'t, '_>,
    node: &'t Node<'_>,
    segment: &Segment,
    (path, depth): (&KeyPath, usize),
) -> Result<Option<usize>, (Refusal, Span)> {
    match (segment, &node.kind) {
        (Segment::Key(key), NodeKind::Mapping { entries, .. }) => entry(context, entries, key),
        // A JSON pointer writes a key that looks like a number as it writes the place of an item.
        (Segment::Index(index), NodeKind::Mapping { entries, .. }) => {
            match entry(context, entries, &index.to_string())? {
                Some(place) => Ok(Some(place)),
                None => Err((Refusal::NotAList, node.span)),
            }
        }
        (Segment::Key(_), _) => {
            let found = KeyPath(path.0[..depth].to_vec()).to_string();
            Err((Refusal::NotAMapping { found }, node.span))
        }
        (Segment::Index(index), NodeKind::Sequence { items, .. }) if *index < items.len() => Ok(Some(*index)),
        (Segment::Index(index), NodeKind::Sequence { items, .. }) => {
            Err((Refusal::NoSuchItem { index: *index, length: items.len() }, node.span))
        }
        (Segment::Index(_), _) => Err((Refusal::NotAList, node.span)),
    }
}

/// The place of the only entry under `key`.
fn entry<'t>(
    context: &Context<'t, '_>,
    entries: &'t [Entry<'_>],
    key: &str,
) -> Result<Option<usize>, (Refusal, Span)> {
    match context.keys.find(entries, key) {
        Some(found) if found.count > 1 => {
            let refusal = Refusal::DuplicateKey { key: key.to_owned(), count: found.count };
            Err((refusal, entries[found.last].key.span))
        }
        found => Ok(found.map(|found| found.first)),
    }
}

/// The missing rest of a path, which can only be keys: no list grows by naming a place in it.
fn keys_of(segments: &[Segment], span: Span) -> Result<Vec<String>, (Refusal, Span)> {
    let key = |segment: &Segment| match segment {
        Segment::Key(key) => Ok(key.clone()),
        Segment::Index(index) => Err((Refusal::NoSuchItem { index: *index, length: 0 }, span)),
    };
    segments.iter().map(key).collect()
}

/// Refuses a node that is an alias, or whose anchor an alias uses.
fn refuse_shared(context: &Context<'_, '_>, node: &Node<'_>) -> Result<(), (Refusal, Span)> {
    if let NodeKind::Alias { name } = &node.kind {
        return Err((Refusal::Alias { name: name.to_string() }, node.span));
    }
    match node.anchor() {
        Some(name) if is_used(context, name) => {
            Err((Refusal::AnchorInUse { name: name.to_owned() }, node.span))
        }
        _ => Ok(()),
    }
}

/// Refuses when a node inside `node` has an anchor that an alias outside of it may use.
pub(super) fn refuse_anchors_inside(
    context: &Context<'_, '_>,
    node: &Node<'_>,
) -> Result<(), (Refusal, Span)> {
    let mut anchored = node.descend().filter_map(|inner| Some((inner.anchor()?, inner.span))).peekable();
    if anchored.peek().is_none() {
        return Ok(());
    }
    match anchored.find(|(name, _)| is_used(context, name)) {
        Some((name, span)) => Err((Refusal::AnchorInUse { name: name.to_owned() }, span)),
        None => Ok(()),
    }
}

fn is_used(context: &Context<'_, '_>, anchor: &str) -> bool {
    context.aliases.get_or_init(|| aliases(context.yaml)).contains(anchor)
}

/// The names of all aliases of the region.
fn aliases<'t>(yaml: &'t Yaml<'_>) -> HashSet<&'t str> {
    let nodes = yaml.root().into_iter().flat_map(Node::descend);
    let names = nodes.filter_map(|node| match &node.kind {
        NodeKind::Alias { name } => Some(&**name),
        _ => None,
    });
    names.collect()
}
