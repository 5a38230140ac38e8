//! The anchors of a region, found once: a file may use one a hundred thousand times.

use std::collections::HashMap;

use super::{Node, NodeKind, Yaml};

/// Every anchored node of a region under its name.
#[derive(Debug)]
pub(crate) struct Anchors<'y, 'a> {
    nodes: HashMap<&'y str, Vec<&'y Node<'a>>>,
}

impl<'y, 'a> Anchors<'y, 'a> {
    pub(crate) fn of(yaml: &'y Yaml<'a>) -> Self {
        let mut nodes = HashMap::<_, Vec<_>>::new();
        for node in yaml.root().into_iter().flat_map(Node::descend) {
            if let Some(name) = node.anchor() {
                nodes.entry(name).or_default().push(node);
            }
        }
        Self { nodes }
    }

    /// The node that an alias names: the last anchor of that name before it (YAML 1.2.2, §7.1).
    pub(crate) fn target(&self, alias: &Node<'_>) -> Option<&'y Node<'a>> {
        let NodeKind::Alias { name } = &alias.kind else { return None };
        let nodes = self.nodes.get(&**name)?;
        let before = nodes.partition_point(|node| node.outer_start() < alias.span.start);
        before.checked_sub(1).map(|place| nodes[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Span;

    #[test]
    fn an_alias_names_the_last_anchor_before_it() {
        let text = "a: &x 1\nb: *x\nc: &x [2]\nd: [*x, *y]\n";
        let yaml = Yaml::parse(text.as_bytes(), Span::new(0, text.len())).unwrap();
        let anchors = Anchors::of(&yaml);
        let root = yaml.root().unwrap();
        let target = |alias: &Node<'_>| anchors.target(alias).map(|node| node.span.start);
        assert_eq!(target(root.get("b").unwrap()), Some(6));
        let last = root.get("d").unwrap().items();
        assert_eq!([target(&last[0]), target(&last[1]), target(root)], [Some(20), None, None]);
    }
}
