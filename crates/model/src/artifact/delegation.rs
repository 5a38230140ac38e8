//! The place of an artifact in a chain of delegation, as its frontmatter tells it.

use super::{Field, FieldKind, field};
use stepmark_frontmatter::{Node, NodeKind, Span, Yaml};

/// `delegation: {id, parent_id, root_id, depth, chain_path}`. Every part may be missing or wrong:
/// `delegation` compares it with the artifacts that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delegation {
    /// The id by which the children of the artifact name it.
    pub id: Option<Field>,
    /// The artifact that the work was given from; null or absent at the root of a chain.
    pub parent_id: Option<Field>,
    /// The first artifact of the chain.
    pub root_id: Option<Field>,
    /// The number of artifacts above it: 0 at the root.
    pub depth: Option<Field>,
    pub chain_path: Option<ChainPath>,
    /// True if the value is a mapping at all.
    pub is_mapping: bool,
    /// True if the parent is all that it says: the key of a kind holds it.
    pub is_parent_alone: bool,
    pub span: Span,
}

/// The ids from the root of a chain down, as a list or as one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPath {
    pub ids: Vec<String>,
    pub span: Span,
}

impl Delegation {
    /// A delegation of which only the ids are known: what others ask for.
    pub fn of_ids(id: Option<&str>, parent_id: Option<&str>) -> Self {
        let field = |text: &str| Field {
            key: String::new(),
            text: text.to_owned(),
            kind: FieldKind::Text,
            span: Span::at(0),
        };
        Self {
            id: id.map(field),
            parent_id: parent_id.map(field),
            root_id: None,
            depth: None,
            chain_path: None,
            is_mapping: true,
            is_parent_alone: false,
            span: Span::at(0),
        }
    }

    /// The delegation of a record whose kind has a key for the parent.
    pub(super) fn of_parent(parent: Field) -> Self {
        let span = parent.span;
        Self { parent_id: Some(parent), is_parent_alone: true, span, ..Self::of_ids(None, None) }
    }

    /// Reads the value of the key `delegation`. Keys may be spelled `parent_id` or `parentId`.
    pub(super) fn read(yaml: &Yaml<'_>, node: &Node<'_>) -> Self {
        let field = |names| find(yaml, node, names).and_then(|(name, value)| Field::read(name, value));
        Self {
            id: field(["id", "delegation_id"]),
            parent_id: field(["parent_id", "parentId"]),
            root_id: field(["root_id", "rootId"]),
            depth: field(["depth", "depth"]),
            chain_path: find(yaml, node, ["chain_path", "chainPath"])
                .and_then(|(_, value)| ChainPath::read(yaml, value)),
            is_mapping: matches!(node.kind, NodeKind::Mapping { .. }),
            is_parent_alone: false,
            span: node.span,
        }
    }

    pub fn id(&self) -> Option<&str> {
        self.id.as_ref().and_then(Field::filled)
    }

    pub fn parent_id(&self) -> Option<&str> {
        self.parent_id.as_ref().and_then(Field::filled)
    }

    /// The depth, written as a number or as its digits.
    pub fn depth(&self) -> Option<usize> {
        self.depth.as_ref().and_then(|field| field.text.trim().parse().ok())
    }
}

/// The first of `names` that the mapping has, with its value.
fn find<'n, 't, 'a>(
    yaml: &'t Yaml<'a>,
    node: &'t Node<'a>,
    names: [&'n str; 2],
) -> Option<(&'n str, &'t Node<'a>)> {
    let (name, value) = names.into_iter().find_map(|name| Some((name, node.get(name)?)))?;
    Some((name, field::followed(yaml, value)))
}

impl ChainPath {
    /// `None` for what is neither a list of ids nor a text.
    fn read(yaml: &Yaml<'_>, node: &Node<'_>) -> Option<Self> {
        let ids = match &node.kind {
            NodeKind::Sequence { items, .. } => items
                .iter()
                .map(|item| field::followed(yaml, item).text().map(str::to_owned))
                .collect::<Option<Vec<_>>>()?,
            _ if node.is_null() => return None,
            _ => {
                let text = node.text()?;
                // An id may hold a slash where something else parts them.
                let separator = ['>', '→', '/'].into_iter().find(|separator| text.contains(*separator));
                let parts = text.split(separator.unwrap_or('/')).map(str::trim);
                parts.filter(|id| !id.is_empty()).map(str::to_owned).collect()
            }
        };
        Some(Self { ids, span: node.span })
    }
}

#[cfg(test)]
mod tests {
    use crate::artifact::{Artifact, ProjectPath};

    #[test]
    fn is_read_however_it_is_written() {
        for delegation in [
            "{id: c, parent_id: b, root_id: a, depth: 2, chain_path: [a, b, c]}",
            "{id: c, parent_id: b, root_id: a, depth: '2', chain_path: a/b/c}",
            "{id: c, parentId: b, rootId: a, depth: 2, chainPath: 'a > b > c'}",
            "\n  id: c\n  parent_id: b\n  root_id: a\n  depth: 2\n  chain_path:\n    - a\n    - b\n    - c",
        ] {
            let file = format!("---\nstatus: todo\ndelegation: {delegation}\n---\n");
            let artifact = Artifact::read(ProjectPath::new("c.md").unwrap(), file.clone().into_bytes());
            let read = artifact.state().delegation.clone().unwrap();
            assert_eq!(
                (read.id(), read.parent_id(), read.depth()),
                (Some("c"), Some("b"), Some(2)),
                "{file}"
            );
            assert_eq!(read.root_id.unwrap().text, "a");
            assert_eq!(read.chain_path.unwrap().ids, ["a", "b", "c"]);
            assert!(artifact.state().other_keys.is_empty());
        }
    }

    #[test]
    fn what_is_missing_or_odd_is_none() {
        for (delegation, is_mapping) in [("", false), ("yes", false), ("[a]", false), ("{depth: deep}", true)]
        {
            let file = format!("---\nstatus: todo\ndelegation: {delegation}\n---\n");
            let artifact = Artifact::read(ProjectPath::new("c.md").unwrap(), file.clone().into_bytes());
            let Some(read) = artifact.state().delegation.clone() else {
                assert_eq!(delegation, "", "only nothing is nothing");
                continue;
            };
            assert_eq!((read.id(), read.depth(), read.is_mapping), (None, None, is_mapping), "{file}");
        }
    }
}
