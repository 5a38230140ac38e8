//! The chain of delegation, as the frontmatter states it.

use super::{Diagnosis, Field, FieldKind, Problem, ProjectPath, STEPS_KEYS, field};
use stepmark_frontmatter::{
    Disagreement, LIMITS, Node, NodeKind, Scalar, ScalarStyle, Span, Yaml, disagreement,
};

/// `delegation: {id, parent_id, root_id, depth, chain_path}`; each key may be missing or wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delegation {
    /// Children refer to it by this id.
    pub id: Option<Field>,
    /// Null or absent at the root of a chain.
    pub parent_id: Option<Field>,
    pub root_id: Option<Field>,
    /// Number of ancestors: 0 at the root.
    pub depth: Option<Field>,
    pub chain_path: Option<ChainPath>,
    pub is_mapping: bool,
    /// Only the parent is known, from a key of the kind.
    pub is_parent_alone: bool,
    pub span: Span,
}

/// From the root down; written as a list or as one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPath {
    pub ids: Vec<String>,
    pub span: Span,
}

impl Delegation {
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

    pub(super) fn of_parent(parent: Field) -> Self {
        let span = parent.span;
        Self { parent_id: Some(parent), is_parent_alone: true, span, ..Self::of_ids(None, None) }
    }

    /// Accepts `parent_id` and `parentId`.
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

    pub fn depth(&self) -> Option<usize> {
        self.depth.as_ref().and_then(|field| field.text.trim().parse().ok())
    }
}

fn find<'n, 't, 'a>(
    yaml: &'t Yaml<'a>,
    node: &'t Node<'a>,
    names: [&'n str; 2],
) -> Option<(&'n str, &'t Node<'a>)> {
    let (name, value) = names.into_iter().find_map(|name| Some((name, node.get(name)?)))?;
    Some((name, field::followed(yaml, value)))
}

impl ChainPath {
    fn read(yaml: &Yaml<'_>, node: &Node<'_>) -> Option<Self> {
        let ids = match &node.kind {
            NodeKind::Sequence { items, .. } => items
                .iter()
                .map(|item| field::followed(yaml, item).text().map(str::to_owned))
                .collect::<Option<Vec<_>>>()?,
            _ if node.is_null() => return None,
            _ => {
                let text = node.text()?;
                // An id may contain a slash if another separator is used.
                let separator = ['>', '→', '/'].into_iter().find(|separator| text.contains(*separator));
                let parts = text.split(separator.unwrap_or('/')).map(str::trim);
                parts.filter(|id| !id.is_empty()).map(str::to_owned).collect()
            }
        };
        Some(Self { ids, span: node.span })
    }
}

/// Seen in projects; compared without case, `_` and `-` (docs/formats.md: eight synonyms).
const SYNONYMS: [&str; 8] = [
    "inputdocuments",
    "inputdocs",
    "inputfiles",
    "inputs",
    "sourcedocuments",
    "sources",
    "referencedocuments",
    "contextdocuments",
];

pub(super) fn is_inputs_key(key: &str) -> bool {
    // Fast path: all of them end in `s`.
    if !key.ends_with('s') {
        return false;
    }
    let bare: String = key.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect();
    SYNONYMS.contains(&bare.as_str())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputDocument {
    pub path: String,
    pub span: Span,
}

impl InputDocument {
    /// Below the root or a folder of `artifact`. Empty for addresses, patterns, variables, paths of one
    /// machine, remarks, and files that the installer wrote.
    pub fn candidates(&self, artifact: &ProjectPath) -> Vec<ProjectPath> {
        let written = self.path.trim();
        let path = written.strip_prefix("{project-root}/").unwrap_or(written);
        let path = path.split(['#', '?', '§']).next().unwrap_or(path).trim_end();
        let is_no_path = path.contains(['{', '}', '*', '<', '>', '|', '"', '('])
            || path.contains("://")
            || INSTALLED.iter().any(|folder| path.starts_with(folder))
            || is_absolute(path);
        // Without extension and folder it may be a title.
        let looks_like_a_path =
            path.contains('/') || path.rsplit_once('.').is_some_and(|(_, ending)| is_ending(ending));
        if is_no_path || !looks_like_a_path {
            return Vec::new();
        }
        // A path that climbs is meant from where it is written.
        let most = if path.starts_with("../") { 1 } else { usize::MAX };
        let folders = std::iter::successors(artifact.parent(), ProjectPath::parent).take(most);
        let below = folders.map(|folder| folder.join(path));
        below.chain([ProjectPath::new(path)]).filter_map(Result::ok).collect()
    }
}

/// Folders of BMAD and of skills (the last lies in one), which many projects keep out of git.
const INSTALLED: [&str; 4] = ["_bmad/", ".claude/", ".agents/", "resources/knowledge/"];

fn is_ending(ending: &str) -> bool {
    (1..=5).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Accepts a list of paths, a list of maps with `path` (`file`, `name`), and a map of paths or of lists of
/// paths.
pub(super) fn read(yaml: &Yaml<'_>, node: &Node<'_>, found: &mut Vec<Diagnosis>) -> Vec<InputDocument> {
    let mut documents = Vec::new();
    // Bounds the work: aliases may repeat a list any number of times.
    let mut nodes = LIMITS.nodes;
    collect(yaml, node, 0, &mut nodes, &mut documents);
    for document in &documents {
        if is_absolute(&document.path) {
            let problem = Problem::AbsolutePath { path: document.path.clone() };
            found.push(Diagnosis::new(problem, document.span));
        }
    }
    documents
}

fn collect(
    yaml: &Yaml<'_>,
    node: &Node<'_>,
    depth: usize,
    nodes: &mut usize,
    documents: &mut Vec<InputDocument>,
) {
    let node = field::followed(yaml, node);
    let Some(fewer) = nodes.checked_sub(1) else { return };
    *nodes = fewer;
    let mut below = |node| collect(yaml, node, depth + 1, nodes, documents);
    match &node.kind {
        _ if depth > 3 || node.is_null() => {}
        NodeKind::Scalar { text, .. } => {
            documents.push(InputDocument { path: text.to_string(), span: node.span });
        }
        NodeKind::Sequence { items, .. } => {
            items.iter().for_each(below);
        }
        NodeKind::Mapping { entries, .. } => {
            let path = ["path", "file", "name"].iter().find_map(|key| node.get(key));
            match path {
                Some(path) if depth > 0 => below(path),
                _ => entries.iter().for_each(|entry| below(&entry.value)),
            }
        }
        NodeKind::Alias { .. } => {}
    }
}

/// `/x`, `~/x`, `C:\x`: valid on one machine only.
fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with('/')
        || path.starts_with("~/")
        || (bytes.len() > 2
            && bytes[0].is_ascii_alphabetic()
            && bytes[1] == b':'
            && matches!(bytes[2], b'\\' | b'/'))
}

pub(super) fn diagnose(yaml: &Yaml<'_>, found: &mut Vec<Diagnosis>) {
    for entry in yaml.root().into_iter().flat_map(Node::entries) {
        let key = entry.key.as_key().unwrap_or_default();
        if !STEPS_KEYS.contains(&key) {
            diagnose_value(key, &entry.value, found);
        }
    }
}

fn diagnose_value(key: &str, node: &Node<'_>, found: &mut Vec<Diagnosis>) {
    match &node.kind {
        NodeKind::Scalar { style: ScalarStyle::Plain, text } if node.tag().is_none() => {
            let problem = match disagreement(text) {
                Some(Disagreement::Bool) => {
                    Problem::ReadAsBool { key: key.to_owned(), text: text.to_string() }
                }
                None if !(names_something(key) && loses_digits(text)) => return,
                _ => Problem::ReadDifferently { key: key.to_owned(), text: text.to_string() },
            };
            found.push(Diagnosis::new(problem, node.span));
        }
        NodeKind::Sequence { items, .. } => items.iter().for_each(|item| diagnose_value(key, item, found)),
        NodeKind::Mapping { entries, .. } => {
            entries.iter().for_each(|entry| {
                diagnose_value(entry.key.as_key().unwrap_or_default(), &entry.value, found);
            });
        }
        NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
    }
}

/// Amounts do not: for them 1.10 and 1.1 are equal.
fn names_something(key: &str) -> bool {
    const NAMES: [&str; 12] = [
        "version", "release", "tag", "story", "epic", "step", "id", "key", "ticket", "commit", "revision",
        "build",
    ];
    let lower = key.to_ascii_lowercase();
    let is_last_word = |name: &&str| {
        lower.strip_suffix(*name).is_some_and(|before| {
            let starts_word = key[before.len()..].starts_with(|c: char| c.is_ascii_uppercase());
            before.is_empty() || before.ends_with(['_', '-', ' ', '.']) || starts_word
        })
    };
    NAMES.iter().any(is_last_word)
}

/// Rewriting loses a digit of `1.10`; `1.0` is unambiguous.
fn loses_digits(text: &str) -> bool {
    let is_decimal = matches!(Scalar::resolve(text), Scalar::Float(_));
    is_decimal && text.split_once('.').is_some_and(|(_, digits)| digits.len() > 1 && digits.ends_with('0'))
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

#[cfg(test)]
mod inputs_tests {
    use super::*;

    #[test]
    fn knows_its_synonyms() {
        for key in ["inputDocuments", "input_documents", "inputDocs", "sources", "source-documents"] {
            assert!(is_inputs_key(key), "{key}");
        }
        for key in ["source", "status", "stepsCompleted", "ınputs"] {
            assert!(!is_inputs_key(key), "{key}");
        }
    }

    #[test]
    fn absolute_paths_of_every_system() {
        for path in ["/home/a/prd.md", "~/prd.md", "C:\\docs\\prd.md", "d:/prd.md"] {
            assert!(is_absolute(path), "{path}");
        }
        for path in ["docs/prd.md", "./prd.md", "{project-root}/prd.md", "a:b", "ü:/"] {
            assert!(!is_absolute(path), "{path}");
        }
    }
}
