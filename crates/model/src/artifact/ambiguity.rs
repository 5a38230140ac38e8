//! Values that readers of different versions of YAML, or programs that write them again, take for different
//! ones.

use super::{Diagnosis, Problem, STEPS_KEYS};
use stepmark_frontmatter::{Disagreement, Node, NodeKind, Scalar, ScalarStyle, Yaml, disagreement};

/// Adds every such value of the mapping `root` to `found`. Lists of steps have a diagnosis of their own.
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
