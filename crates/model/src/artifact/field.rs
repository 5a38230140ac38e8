//! Values of the frontmatter with their span and spelling.

use std::{collections::HashSet, fmt};

use super::{Diagnosis, Problem};
use stepmark_frontmatter::{CollectionStyle, Node, NodeKind, Scalar, ScalarStyle, Span, Value, Yaml};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub key: String,
    /// Unquoted; a plain number keeps its source: `1.10` stays `1.10`.
    pub text: String,
    pub kind: FieldKind,
    pub span: Span,
}

/// As resolved by a YAML reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    Text,
    Integer,
    /// `1.10` is read as `1.1`.
    Decimal,
    Bool,
    /// Empty, `~`, `null`.
    Null,
}

impl Field {
    pub(super) fn read(key: &str, node: &Node<'_>) -> Option<Self> {
        let text = node.text()?.to_owned();
        Some(Self { key: key.to_owned(), text, kind: FieldKind::of(node), span: node.span })
    }

    pub fn filled(&self) -> Option<&str> {
        (self.kind != FieldKind::Null && !self.text.is_empty()).then_some(&*self.text)
    }

    pub fn value(&self) -> Value {
        match self.kind {
            FieldKind::Text => Value::String(self.text.clone()),
            _ => Value::from(Scalar::resolve(&self.text)),
        }
    }
}

impl FieldKind {
    pub(super) fn of(node: &Node<'_>) -> Self {
        match node.scalar() {
            Some(Scalar::Integer(_)) => Self::Integer,
            Some(Scalar::Float(_) | Scalar::Number(_)) => Self::Decimal,
            Some(Scalar::Bool(_)) => Self::Bool,
            Some(Scalar::Null) => Self::Null,
            Some(Scalar::String(_)) | None => Self::Text,
        }
    }
}

pub(super) fn followed<'t, 'a>(yaml: &'t Yaml<'a>, node: &'t Node<'a>) -> &'t Node<'a> {
    match node.kind {
        NodeKind::Alias { .. } => yaml.target(node).unwrap_or(node),
        _ => node,
    }
}

pub(super) fn is_plain(node: &Node<'_>) -> bool {
    matches!(node.kind, NodeKind::Scalar { style: ScalarStyle::Plain, .. })
}

/// Excluded from state digests at any depth (docs/design.md, "Digests").
pub const TIME_KEYS: [&str; 24] = [
    "created",
    "created_at",
    "createdAt",
    "updated",
    "updated_at",
    "updatedAt",
    "date",
    "completed_at",
    "completedAt",
    "claimed_at",
    "generated",
    "lastEdited",
    "lastModified",
    "lastSaved",
    "lastUpdated",
    "last_activity",
    "last_execution",
    "last_modified",
    "last_saved",
    "last_updated",
    "modified",
    "rollback_timestamp",
    "timestamp",
    "validationDate",
];

pub fn is_time_key(key: &str) -> bool {
    TIME_KEYS.contains(&key)
}

/// Not parsed: these keys hold templates and free text, too.
pub type Timestamp = Field;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    Micro,
    Small,
    Medium,
    Large,
    Epic,
    /// Kept as text: other programs use the key for sentences (docs/formats.md).
    Unknown(String),
}

impl Scope {
    pub fn read(text: &str) -> Self {
        match text.to_ascii_lowercase().as_str() {
            "micro" => Self::Micro,
            "small" => Self::Small,
            "medium" => Self::Medium,
            "large" => Self::Large,
            "epic" => Self::Epic,
            _ => Self::Unknown(text.to_owned()),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Micro => "micro",
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
            Self::Epic => "epic",
            Self::Unknown(text) => text,
        })
    }
}

/// See docs/formats.md, "Frontmatter of BMAD".
pub const STEPS_KEYS: [&str; 2] = ["stepsCompleted", "validationStepsCompleted"];

/// Items keep their spelling: `workflow` resolves it to a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    pub key: &'static str,
    pub items: Vec<StepItem>,
    pub form: StepsForm,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepsForm {
    Null,
    Flow,
    Block,
    /// `items` is empty.
    NotAList,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepItem {
    /// The text of a scalar, or the `step` (`id`, `name`) of a map.
    pub spelling: String,
    pub kind: StepItemKind,
    pub span: Span,
}

/// As resolved by a YAML reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepItemKind {
    Scalar(FieldKind),
    /// `{step, status, timestamp, summary}`
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
        let value = followed(yaml, node);
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
        let items: Vec<_> = nodes.iter().map(|item| StepItem::read(followed(yaml, item))).collect();
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

/// Unquoted `012` is 12 in YAML 1.2 and 10 in YAML 1.1; `08` is text in the latter.
fn is_octal_in_yaml_1_1(item: &StepItem, node: &Node<'_>) -> bool {
    item.kind == StepItemKind::Scalar(FieldKind::Integer)
        && is_plain(node)
        && item.spelling.len() > 1
        && item.spelling.starts_with('0')
}
