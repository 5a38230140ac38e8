//! An index of the keys of large mappings, for many lookups in one tree.

use std::{cell::RefCell, collections::HashMap};

use super::{Entry, Node, Segment};

/// Among so few entries, comparing each with the key is faster than hashing them.
const FEW: usize = 32;

/// Remembers the keys of each large mapping that was asked for: a thousand questions read its entries once.
#[derive(Default)]
pub struct KeyIndex<'t> {
    /// By the address of the mapping's entries, which the tree keeps where they are.
    mappings: RefCell<HashMap<usize, HashMap<&'t str, KeyIndices>>>,
}

/// The indices of a key among the entries of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyIndices {
    /// The number of the first entry with the key.
    pub first: usize,
    /// The number of the last one.
    pub last: usize,
    /// The total number.
    pub count: usize,
}

impl KeyIndices {
    fn with(self, place: usize) -> Self {
        Self { last: place, count: self.count + 1, ..self }
    }
}

impl<'t> KeyIndex<'t> {
    /// The index of `key` in `entries`; `None` where it does not.
    pub fn find(&self, entries: &'t [Entry<'_>], key: &str) -> Option<KeyIndices> {
        let keys =
            || entries.iter().enumerate().filter_map(|(place, entry)| Some((place, entry.key.as_key()?)));
        let alone = |place| KeyIndices { first: place, last: place, count: 1 };
        if entries.len() <= FEW {
            let mut places = keys().filter(|(_, text)| *text == key).map(|(place, _)| place);
            let first = places.next()?;
            return Some(places.fold(alone(first), KeyIndices::with));
        }
        let mut mappings = self.mappings.borrow_mut();
        let mapping = mappings.entry(entries.as_ptr().addr()).or_insert_with(|| {
            let mut mapping: HashMap<&'t str, KeyIndices> = HashMap::with_capacity(entries.len());
            for (place, text) in keys() {
                mapping
                    .entry(text)
                    .and_modify(|found| *found = found.with(place))
                    .or_insert_with(|| alone(place));
            }
            mapping
        });
        mapping.get(key).copied()
    }

    /// The node at `path` below `root`; of a key that stands several times, the first.
    pub fn node_at<'a>(&self, root: &'t Node<'a>, path: &[Segment]) -> Option<&'t Node<'a>> {
        path.iter().try_fold(root, |node, segment| match segment {
            Segment::Key(key) => {
                let entries = node.entries();
                Some(&entries[self.find(entries, key)?.first].value)
            }
            Segment::Index(index) => node.items().get(*index),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyPath, Span, Yaml};

    #[test]
    fn small_and_large_mappings_answer_alike() {
        for size in [3, FEW + 1, 500] {
            let lines: String = (0..size).map(|at| format!("k{at}: {at}\n")).collect();
            let text = format!("k1: first\n{lines}");
            let yaml = Yaml::parse(text.as_bytes(), Span::new(0, text.len())).unwrap();
            let (root, index) = (yaml.root().unwrap(), KeyIndex::default());
            for _ in 0..2 {
                assert_eq!(
                    index.find(root.entries(), "k0"),
                    Some(KeyIndices { first: 1, last: 1, count: 1 })
                );
                assert_eq!(
                    index.find(root.entries(), "k1"),
                    Some(KeyIndices { first: 0, last: 2, count: 2 })
                );
                assert_eq!(index.find(root.entries(), "k"), None);
            }
            let path: KeyPath = "k1".parse().unwrap();
            assert_eq!(index.node_at(root, &path.0).and_then(Node::text), Some("first"));
            assert!(index.node_at(root, &[Segment::Index(0)]).is_none());
            assert_eq!(index.mappings.borrow().len(), usize::from(size >= FEW));
        }
    }
}
