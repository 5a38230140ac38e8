//! The documents that an artifact was made from.

use super::{Diagnosis, Problem, ProjectPath, STEPS_KEYS, field};
use stepmark_frontmatter::{
    Disagreement, LIMITS, Node, NodeKind, Scalar, ScalarStyle, Span, Yaml, disagreement,
};

/// Names of the key in the wild, without case, `_` and `-` (docs/formats.md: a list, a list of maps, or a
/// map; eight synonyms).
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
    // Cheap for the many keys that are none of these: all end in `s`.
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
    /// The paths at which the document may be: below the root, or beside the `artifact` that names it. None
    /// for what is no path of the project: an address, a pattern, a variable, a path of one machine, a
    /// remark.
    pub fn candidates(&self, artifact: &ProjectPath) -> Vec<ProjectPath> {
        let written = self.path.trim();
        let path = written.strip_prefix("{project-root}/").unwrap_or(written);
        let path = path.split(['#', '?']).next().unwrap_or(path);
        let is_no_path = path.contains(['{', '}', '*', '<', '>', '|', '"'])
            || path.contains("://")
            || path.ends_with(')')
            || is_absolute(path);
        // A name without an ending or a folder may be a title.
        let looks_like_a_path =
            path.contains('/') || path.rsplit_once('.').is_some_and(|(_, ending)| is_ending(ending));
        if is_no_path || !looks_like_a_path {
            return Vec::new();
        }
        let beside = artifact.parent().map_or_else(|| ProjectPath::new(path), |folder| folder.join(path));
        [ProjectPath::new(path), beside].into_iter().filter_map(Result::ok).collect()
    }
}

fn is_ending(ending: &str) -> bool {
    (1..=5).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Reads a list of paths, a list of maps with a `path` (`file`, `name`), or a map of paths or lists of paths.
pub(super) fn read(yaml: &Yaml<'_>, node: &Node<'_>, found: &mut Vec<Diagnosis>) -> Vec<InputDocument> {
    let mut documents = Vec::new();
    // Aliases can name the same list any number of times.
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

/// `/x`, `~/x`, `C:\x`: a path that means something on one machine only.
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

/// Returns whether the value of `key` is a name, not an amount: of an amount, 1.10 and 1.1 are the same.
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

/// Returns whether `text` is a decimal that loses a digit when a program writes it again: `1.10`; nobody
/// means another thing by `1.0`.
fn loses_digits(text: &str) -> bool {
    let is_decimal = matches!(Scalar::resolve(text), Scalar::Float(_));
    is_decimal && text.split_once('.').is_some_and(|(_, digits)| digits.len() > 1 && digits.ends_with('0'))
}

#[cfg(test)]
mod tests {
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
