//! Declared lifecycles, with the place of what is wrong in them.

use stepmark_frontmatter::{KeyPath, Node, NodeKind, Segment, Yaml};
use stepmark_model::lifecycle::{DeclaredLifecycle, LifecycleDeclaration, LifecycleError, LifecycleProblem};

/// A problem, and the byte where it stands.
pub(super) struct MisplacedLifecycle {
    pub(super) offset: usize,
    pub(super) reason: String,
}

pub(super) fn assemble(
    declared: &[LifecycleDeclaration],
    tree: &Yaml<'_>,
) -> Result<Vec<DeclaredLifecycle>, MisplacedLifecycle> {
    let mut assembled: Vec<DeclaredLifecycle> = Vec::new();
    for (place, declaration) in declared.iter().enumerate() {
        let misplaced = |error: LifecycleError| {
            let mut way = KeyPath::key("lifecycles").item(place);
            way.0.extend(error.way.0.iter().cloned());
            MisplacedLifecycle { offset: offset(tree, &way), reason: error.to_string() }
        };
        let own = DeclaredLifecycle::of(declaration).map_err(misplaced)?;
        let name = own.lifecycle.name();
        if assembled.iter().any(|earlier| earlier.lifecycle.name() == name) {
            let (name, way) = (name.to_owned(), KeyPath::key("name"));
            return Err(misplaced(LifecycleError { name, way, problem: LifecycleProblem::NameTwice }));
        }
        assembled.push(own);
    }
    Ok(assembled)
}

/// The byte at which the value at `way` starts; where it does not stand, that of the last one on the way to
/// it. A text that stands for a list of one is its first item.
pub(super) fn offset(tree: &Yaml<'_>, way: &KeyPath) -> usize {
    let Some(mut node) = tree.root() else { return tree.span().start };
    for segment in &way.0 {
        let next: Option<&Node<'_>> = match (segment, &node.kind) {
            (Segment::Key(key), _) => node.get(key),
            (Segment::Index(index), NodeKind::Sequence { items, .. }) => items.get(*index),
            (Segment::Index(_), _) => None,
        };
        let Some(next) = next else { break };
        node = next;
    }
    node.span.start
}
