//! The anchors of a region, found once: a file may use one a hundred thousand times.

use std::collections::HashMap;

use super::{Node, NodeKind};

/// The positions of all anchored nodes of a region, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Anchors {
    places: HashMap<Box<str>, Vec<Place>>,
}

/// The start of a node, and the child numbers that lead to it; those of a mapping count keys and values.
#[derive(Clone, Debug)]
struct Place {
    start: usize,
    way: Box<[usize]>,
}

impl Anchors {
    pub(super) fn of(root: &Node<'_>) -> Self {
        let mut found = Self::default();
        found.add(root, &mut Vec::new());
        found
    }

    fn add(&mut self, node: &Node<'_>, way: &mut Vec<usize>) {
        if let Some(name) = node.anchor() {
            let place = Place { start: node.outer_start(), way: way.as_slice().into() };
            self.places.entry(name.into()).or_default().push(place);
        }
        let children = node.items().len().max(2 * node.entries().len());
        for index in 0..children {
            if let Some(child) = child(node, index) {
                way.push(index);
                self.add(child, way);
                way.pop();
            }
        }
    }

    /// The node below `root` that an alias names: the last anchor of that name before it (YAML 1.2.2, §7.1).
    pub(super) fn target<'t, 'a>(&self, root: &'t Node<'a>, alias: &Node<'_>) -> Option<&'t Node<'a>> {
        let NodeKind::Alias { name } = &alias.kind else { return None };
        let places = self.places.get(&**name)?;
        let before = places.partition_point(|place| place.start < alias.span.start);
        let place = &places[before.checked_sub(1)?];
        place.way.iter().try_fold(root, |node, index| child(node, *index))
    }
}

fn child<'t, 'a>(node: &'t Node<'a>, index: usize) -> Option<&'t Node<'a>> {
    match &node.kind {
        NodeKind::Sequence { items, .. } => items.get(index),
        NodeKind::Mapping { entries, .. } => {
            let entry = entries.get(index / 2)?;
            Some(if index.is_multiple_of(2) { &entry.key } else { &entry.value })
        }
        NodeKind::Scalar { .. } | NodeKind::Alias { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Node, Span, Yaml};

    #[test]
    fn an_alias_names_the_last_anchor_before_it() {
        let text = "a: &x 1\nb: *x\nc: &x [2]\nd: [*x, *y]\n? [&k 3]\n: *k\n";
        let yaml = Yaml::parse(text.as_bytes(), Span::new(0, text.len())).unwrap();
        let root = yaml.root().unwrap();
        let target = |alias: &Node<'_>| yaml.target(alias).map(|node| node.span.start);
        assert_eq!(target(root.get("b").unwrap()), Some(6));
        let last = root.get("d").unwrap().items();
        assert_eq!([target(&last[0]), target(&last[1]), target(root)], [Some(20), None, None]);
        assert_eq!(target(&root.entries()[4].value), text.find('3'));
    }

    /// The anchors are sought once, however many aliases there are.
    #[test]
    fn following_an_alias_visits_no_other() {
        let aliases: String = (0..100_000).map(|_| "- *x\n").collect();
        let text = format!("a: &x 1\nb:\n{aliases}");
        let yaml = Yaml::parse(text.as_bytes(), Span::new(0, text.len())).unwrap();
        let items = yaml.root().unwrap().get("b").unwrap().items();
        assert!(items.iter().all(|alias| yaml.target(alias).and_then(Node::text) == Some("1")));
        assert!(yaml.unresolved_aliases().is_empty());
    }
}
