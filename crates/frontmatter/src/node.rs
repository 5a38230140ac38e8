//! The tree of a YAML region: every node with its place in the file and its style.

use std::borrow::Cow;

use super::{Scalar, Span};

/// A node of the tree. All spans count bytes of the whole file.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    /// The content with its quotes or brackets, without anchor and tag. A block collection spans from its
    /// first child to the end of its last; a block scalar its content lines without the `|` header; an empty
    /// value is an empty span at the end of its key.
    pub span: Span,
    /// The kind of node.
    pub kind: NodeKind<'a>,
    /// `&name` and `!tag`, rare enough to stand apart.
    pub properties: Option<Box<Properties<'a>>>,
}

/// The properties of a node (YAML 1.2.2, §6.9).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties<'a> {
    /// Name of the anchor and span of its `&name`.
    pub anchor: Option<(Cow<'a, str>, Span)>,
    /// The tag.
    pub tag: Option<Tag>,
}

/// A tag and what it says about a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The span of its text.
    pub span: Span,
    /// Its statement.
    pub kind: TagKind,
}

/// The type that a tag gives a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TagKind {
    /// `!!int`, `!!float`, `!!bool`, `!!null`: the text is read by the core schema, quoted or not.
    CoreScalar,
    /// `!!str`, `!`, and every tag of an application: the text is text.
    Other,
}

/// The kind of a node.
#[derive(Clone, Debug)]
pub enum NodeKind<'a> {
    /// A single value.
    Scalar {
        /// Its style.
        style: ScalarStyle,
        /// Its text after unescaping and folding; empty for an empty value.
        text: Cow<'a, str>,
    },
    /// A list.
    Sequence {
        /// Brackets or dashes.
        style: CollectionStyle,
        /// Its items in order.
        items: Vec<Node<'a>>,
    },
    /// A map; order and duplicates are kept.
    Mapping {
        /// Braces or lines.
        style: CollectionStyle,
        /// Its entries in order.
        entries: Vec<Entry<'a>>,
    },
    /// A reference `*name`; never expanded here.
    Alias {
        /// The name after the `*`.
        name: Cow<'a, str>,
    },
}

/// One `key: value` of a mapping.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The key, which may be any node.
    pub key: Node<'a>,
    /// The value.
    pub value: Node<'a>,
}

/// The spelling of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarStyle {
    /// Without quotes.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// The spelling of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CollectionStyle {
    /// Dashes or indented lines.
    Block,
    /// Brackets or braces.
    Flow,
}

impl<'a> Node<'a> {
    /// The entries of a mapping; none for any other node.
    pub fn entries(&self) -> &[Entry<'a>] {
        match &self.kind {
            NodeKind::Mapping { entries, .. } => entries,
            _ => &[],
        }
    }

    /// The items of a sequence; none for any other node.
    pub fn items(&self) -> &[Node<'a>] {
        match &self.kind {
            NodeKind::Sequence { items, .. } => items,
            _ => &[],
        }
    }

    /// The value of the *first* entry named `key`; see [`super::Yaml::duplicate_keys`].
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.entries().iter().find(|entry| entry.key.as_key() == Some(key)).map(|entry| &entry.value)
    }

    /// The text of a scalar of any style.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The text of a scalar that may serve as a plain key.
    pub fn as_key(&self) -> Option<&str> {
        self.text()
    }

    /// The value of a scalar in the YAML 1.2 core schema: without a tag a plain one is resolved, and a quoted
    /// or block scalar is a string; with one, the tag decides.
    pub fn scalar(&self) -> Option<Scalar<'_>> {
        match &self.kind {
            NodeKind::Scalar { style, text } => {
                let tag = self.properties.as_ref().and_then(|properties| properties.tag);
                let is_resolved =
                    tag.map_or(*style == ScalarStyle::Plain, |tag| tag.kind == TagKind::CoreScalar);
                Some(if is_resolved { Scalar::resolve(text) } else { Scalar::String(text) })
            }
            _ => None,
        }
    }

    /// Returns whether the value is empty, `~` or `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.scalar(), Some(Scalar::Null))
    }

    /// Returns whether nothing is written at all: `key:`.
    pub fn is_empty_value(&self) -> bool {
        self.span.is_empty()
            && matches!(&self.kind, NodeKind::Scalar { style: ScalarStyle::Plain, .. })
            && self.properties.is_none()
    }

    /// Span of the tag.
    pub fn tag(&self) -> Option<Span> {
        self.properties.as_ref()?.tag.map(|tag| tag.span)
    }

    /// Name of the anchor.
    pub fn anchor(&self) -> Option<&str> {
        self.properties.as_ref()?.anchor.as_ref().map(|(name, _)| &**name)
    }

    /// The start of the node, anchor and tag included.
    pub(crate) fn outer_start(&self) -> usize {
        let Some(properties) = &self.properties else { return self.span.start };
        let anchor = properties.anchor.as_ref().map(|(_, span)| span.start);
        let tag = properties.tag.map(|tag| tag.span.start);
        [Some(self.span.start), anchor, tag].into_iter().flatten().min().unwrap_or(self.span.start)
    }

    /// All nodes below and including this one, parents first, keys before values.
    pub fn descend(&self) -> impl Iterator<Item = &Node<'a>> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let node = open.pop()?;
            match &node.kind {
                NodeKind::Sequence { items, .. } => open.extend(items.iter().rev()),
                NodeKind::Mapping { entries, .. } => {
                    open.extend(entries.iter().rev().flat_map(|entry| [&entry.value, &entry.key]));
                }
                NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
            }
            Some(node)
        })
    }
}
