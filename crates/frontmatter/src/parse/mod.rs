//! YAML text → tree with byte spans, within limits that make reading untrusted files safe.

mod granit;
mod subset;
mod tree;

use std::{borrow::Cow, collections::HashSet, sync::OnceLock};

pub(crate) use granit::Comments;

use super::{Entry, Node, NodeKind, Span, merge_conflict::merge_conflict, span::Anchors};

/// The limits of reading. Beyond a limit reading ends with an error that names the place; nothing is cut
/// silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a region.
    pub bytes: usize,
    /// Collections inside collections.
    pub depth: usize,
    /// Nodes of a region, and of a value after its aliases are followed.
    pub nodes: usize,
}

/// The limits in force (docs/design.md, "Edits").
pub const LIMITS: Limits = Limits { bytes: 1 << 20, depth: 64, nodes: 250_000 };

/// An error of reading a region. Offsets count bytes of the whole file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The region is larger than [`Limits::bytes`].
    #[error("the YAML is {size} bytes long, more than the limit of {limit}")]
    TooLarge {
        /// Bytes of the region.
        size: usize,
        /// The limit in bytes.
        limit: usize,
        /// The offset of the region.
        offset: usize,
    },
    /// Collections nest deeper than [`Limits::depth`].
    #[error("collections nest deeper than the limit of {limit}")]
    TooDeep {
        /// The limit.
        limit: usize,
        /// The offset at which it is passed.
        offset: usize,
    },
    /// The region holds more nodes than [`Limits::nodes`].
    #[error("the YAML holds more than the limit of {limit} nodes")]
    TooManyNodes {
        /// The limit.
        limit: usize,
        /// The offset at which it is passed.
        offset: usize,
    },
    /// The region is not UTF-8.
    #[error("the YAML is not UTF-8")]
    NotUtf8 {
        /// The first byte that is wrong.
        offset: usize,
    },
    /// Git has left two versions of some lines.
    #[error("a merge conflict begins here that nobody has resolved: both versions stand in the file")]
    MergeConflict {
        /// The offset of the first conflict.
        offset: usize,
    },
    /// The region is not YAML.
    #[error("not YAML: {message}")]
    Syntax {
        /// The error of the parser.
        message: String,
        /// The offset of the directive.
        offset: usize,
    },
}

impl ParseError {
    /// The byte of the file that the error is about.
    pub const fn offset(&self) -> usize {
        match self {
            Self::TooLarge { offset, .. }
            | Self::TooDeep { offset, .. }
            | Self::TooManyNodes { offset, .. }
            | Self::NotUtf8 { offset }
            | Self::MergeConflict { offset }
            | Self::Syntax { offset, .. } => *offset,
        }
    }
}

/// A comment of the source, without its `#`.
#[derive(Clone, Debug)]
pub(crate) struct Comment<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) span: Span,
}

/// The result of the builder.
struct Tree<'a> {
    root: Option<Node<'a>>,
    documents: usize,
    comments: Vec<Comment<'a>>,
}

/// A parsed region: its tree, and where it stands in the file.
#[derive(Clone, Debug)]
pub struct Yaml<'a> {
    span: Span,
    root: Option<Node<'a>>,
    documents: usize,
    comments: Vec<Comment<'a>>,
    /// Found when the first alias is followed.
    anchors: OnceLock<Anchors>,
}

#[cfg(any(test, feature = "counted"))]
thread_local! {
    /// The number of regions that this thread has parsed: tests count it as work.
    pub static PARSED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl<'a> Yaml<'a> {
    /// Parses the bytes `span` of a file.
    ///
    /// # Errors
    /// When the region is not UTF-8, not YAML, or beyond [`LIMITS`].
    pub fn parse(file: &'a [u8], span: Span) -> Result<Self, ParseError> {
        Self::parse_with(file, span, Comments::Skip)
    }

    /// The same; with comments, as edits are planned and proven, it is always the full parser that reads.
    pub(crate) fn parse_with(file: &'a [u8], span: Span, comments: Comments) -> Result<Self, ParseError> {
        #[cfg(any(test, feature = "counted"))]
        PARSED.with(|parsed| parsed.set(parsed.get() + 1));
        let offset = span.start;
        if span.len() > LIMITS.bytes {
            return Err(ParseError::TooLarge { size: span.len(), limit: LIMITS.bytes, offset });
        }
        let bytes = file.get(span.range()).unwrap_or_default();
        let text = std::str::from_utf8(bytes)
            .map_err(|error| ParseError::NotUtf8 { offset: offset + error.valid_up_to() })?;
        let of_subset = if comments == Comments::Skip { subset::read(text, offset) } else { None };
        let tree = match of_subset {
            Some(tree) => tree,
            None => tree::build(granit::GranitReader::new(text, comments, LIMITS.depth), offset).map_err(
                |error| {
                    let conflict = merge_conflict(file, span);
                    conflict.map_or(error, |offset| ParseError::MergeConflict { offset })
                },
            )?,
        };
        let Tree { root, documents, comments } = tree;
        Ok(Self { span, root, documents, comments, anchors: OnceLock::new() })
    }

    /// The spans of the comments in the bytes `span` of a file, each with its `#`.
    ///
    /// # Errors
    /// Those of [`Yaml::parse`].
    pub fn comment_spans(file: &'a [u8], span: Span) -> Result<Vec<Span>, ParseError> {
        let yaml = Self::parse_with(file, span, Comments::Keep)?;
        Ok(yaml.comments.iter().map(|comment| comment.span).collect())
    }

    /// Finds the span of the region in the file.
    pub const fn span(&self) -> Span {
        self.span
    }

    /// The root node; `None` where nothing but blanks and comments is written.
    pub const fn root(&self) -> Option<&Node<'a>> {
        self.root.as_ref()
    }

    /// The number of YAML documents the region holds; only the first is read.
    pub const fn documents(&self) -> usize {
        self.documents
    }

    pub(crate) fn comments(&self) -> &[Comment<'a>] {
        &self.comments
    }

    /// Every key that stands twice in its mapping: the second and later occurrences, in order. Readers
    /// disagree on which one counts, so such a key can be read (the first is taken) but not edited.
    pub fn duplicate_keys(&self) -> Vec<&Node<'a>> {
        let nodes = self.root.iter().flat_map(Node::descend);
        nodes.flat_map(|node| repeated_keys(node.entries())).collect()
    }

    /// Every alias whose anchor does not exist: `glob: *.md` where `"*.md"` was meant.
    pub fn unresolved_aliases(&self) -> Vec<&Node<'a>> {
        let nodes = self.root.iter().flat_map(Node::descend);
        let aliases = nodes.filter(|node| matches!(node.kind, NodeKind::Alias { .. }));
        aliases.filter(|alias| self.target(alias).is_none()).collect()
    }

    /// The node that an alias names: the last anchor of that name before it.
    pub fn target(&self, alias: &Node<'_>) -> Option<&Node<'a>> {
        let root = self.root.as_ref()?;
        self.anchors.get_or_init(|| Anchors::of(root)).target(root, alias)
    }
}

/// Among so few keys, comparing each with each is faster than hashing them.
const FEW_KEYS: usize = 16;

/// The second and later occurrences of keys that stand several times among `entries`.
fn repeated_keys<'t, 'a>(entries: &'t [Entry<'a>]) -> Vec<&'t Node<'a>> {
    let keys = || entries.iter().map(|entry| &entry.key);
    if entries.len() > FEW_KEYS {
        let mut seen = HashSet::with_capacity(entries.len());
        return keys().filter(|key| key.as_key().is_some_and(|text| !seen.insert(text))).collect();
    }
    let is_repeated = |place: usize, text: &str| keys().take(place).any(|key| key.as_key() == Some(text));
    let places = keys().enumerate();
    places
        .filter(|(place, key)| key.as_key().is_some_and(|text| is_repeated(*place, text)))
        .map(|(_, key)| key)
        .collect()
}
