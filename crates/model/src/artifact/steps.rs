//! The list of completed steps, as it is spelled.

use std::collections::HashSet;

use super::{Diagnosis, FieldKind, Problem, field};
use stepmark_frontmatter::{CollectionStyle, Node, NodeKind, Span, Value, Yaml};

/// The keys under which the field keeps completed steps (docs/formats.md, "Frontmatter of BMAD").
pub const STEPS_KEYS: [&str; 2] = ["stepsCompleted", "validationStepsCompleted"];

/// A list of completed steps. Items keep their spelling: a step id is text, and `workflow` decides what it
/// means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    pub key: &'static str,
    /// The items in file order.
    pub items: Vec<StepItem>,
    pub form: StepsForm,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepsForm {
    /// `key:` with nothing behind it, or `null`.
    Null,
    Flow,
    Block,
    /// No list at all; `items` is empty.
    NotAList,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepItem {
    /// The spelling: text of a scalar, or the `step` (`id`, `name`) of a map item.
    pub spelling: String,
    pub kind: StepItemKind,
    pub span: Span,
}

/// The type that a YAML reader gives an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepItemKind {
    Scalar(FieldKind),
    /// A map such as `{step, status, timestamp, summary}`.
    Map,
    /// A list, an alias without anchor, or a map without a step.
    Other,
}

impl Steps {
    pub(super) fn read(
        key: &'static str,
        yaml: &Yaml<'_>,
        node: &Node<'_>,
        found: &mut Vec<Diagnosis>,
    ) -> Self {
        let value = field::followed(yaml, node);
        let (form, nodes) = match &value.kind {
            NodeKind::Sequence { style: CollectionStyle::Flow, items } => (StepsForm::Flow, items.as_slice()),
            NodeKind::Sequence { style: CollectionStyle::Block, items } => {
                (StepsForm::Block, items.as_slice())
            }
            _ if value.is_null() => (StepsForm::Null, [].as_slice()),
            _ => {
                found.push(Diagnosis::new(Problem::StepsNotAList { key: key.to_owned() }, node.span));
                (StepsForm::NotAList, [].as_slice())
            }
        };
        let items: Vec<_> = nodes.iter().map(|item| StepItem::read(field::followed(yaml, item))).collect();
        diagnose(key, &items, nodes, found);
        Self { key, items, form, span: node.span }
    }

    pub fn spellings(&self) -> impl Iterator<Item = &str> {
        self.items.iter().map(|item| item.spelling.as_str())
    }
}

impl StepItem {
    fn read(node: &Node<'_>) -> Self {
        let span = node.span;
        if let Some(text) = node.text() {
            return Self { spelling: text.to_owned(), kind: StepItemKind::Scalar(FieldKind::of(node)), span };
        }
        let named = ["step", "id", "name"].iter().find_map(|key| node.get(key)?.text());
        match named {
            Some(spelling) => Self { spelling: spelling.to_owned(), kind: StepItemKind::Map, span },
            None => Self { spelling: String::new(), kind: StepItemKind::Other, span },
        }
    }

    /// The value that an edit would write for another step spelled `spelling` beside this one.
    pub fn like(&self, spelling: &str) -> Value {
        match self.kind {
            StepItemKind::Scalar(FieldKind::Integer) => {
                spelling.parse().map_or_else(|_| Value::from(spelling), Value::Integer)
            }
            _ => Value::from(spelling),
        }
    }
}

fn diagnose(key: &str, items: &[StepItem], nodes: &[Node<'_>], found: &mut Vec<Diagnosis>) {
    let mut earlier = HashSet::with_capacity(items.len());
    for (item, node) in items.iter().zip(nodes) {
        let is_new = earlier.insert(item.spelling.as_str());
        let problem = match item.kind {
            StepItemKind::Other => Some(Problem::StepUnreadable { key: key.to_owned() }),
            StepItemKind::Scalar(FieldKind::Null) => Some(Problem::StepEmpty { key: key.to_owned() }),
            StepItemKind::Scalar(FieldKind::Decimal) => {
                Some(Problem::NumberMisread { key: key.to_owned(), text: item.spelling.clone() })
            }
            _ if is_octal_in_yaml_1_1(item, node) => {
                Some(Problem::NumberMisread { key: key.to_owned(), text: item.spelling.clone() })
            }
            _ if !is_new => Some(Problem::StepTwice { key: key.to_owned(), step: item.spelling.clone() }),
            _ => None,
        };
        found.extend(problem.map(|problem| Diagnosis::new(problem, item.span)));
    }
    let is_integer = |item: &&StepItem| item.kind == StepItemKind::Scalar(FieldKind::Integer);
    let integers = items.iter().filter(is_integer).count();
    if let Some(first) = items.iter().find(is_integer).filter(|_| integers < items.len()) {
        found.push(Diagnosis::new(Problem::StepKindsMixed { key: key.to_owned() }, first.span));
    }
}

/// An unquoted `012` is 12 for a YAML 1.2 reader and 10 for a YAML 1.1 reader; `08` is text for the latter.
fn is_octal_in_yaml_1_1(item: &StepItem, node: &Node<'_>) -> bool {
    item.kind == StepItemKind::Scalar(FieldKind::Integer)
        && field::is_plain(node)
        && item.spelling.len() > 1
        && item.spelling.starts_with('0')
}
