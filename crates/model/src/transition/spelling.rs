//! The spelling of a step beside others: items copy the kind of their neighbours (docs/design.md, "Edits").

use crate::{
    artifact::{Field, FieldKind, StepItem, StepItemKind},
    workflow::{Step, StepForm, StepId},
};
use stepmark_frontmatter::Value;

/// A kind of spelling that was met in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `3`
    Integer,
    /// `'3'`, `'03'`: text of this width.
    Number { width: usize },
    /// `step-03-success`
    Name,
    /// `step-03-success.md`
    FileName,
    /// `03-success`
    Slug,
    /// `step-03`
    Prefix { width: usize },
    /// `{step: step-03-success}`
    Map,
}

impl Kind {
    fn of(spelling: &str, is_integer: bool, is_map: bool) -> Option<Self> {
        if is_map {
            return Some(Self::Map);
        }
        if is_integer {
            return Some(Self::Integer);
        }
        let id = StepId::parse(spelling);
        // A resume marker and free words show no habit of the list.
        if id.is_resume() || *id.form() == StepForm::Words {
            return None;
        }
        let lower = spelling.to_ascii_lowercase();
        if lower.ends_with(".md") {
            return Some(Self::FileName);
        }
        let digits = lower.bytes().filter(u8::is_ascii_digit).count();
        let starts_with_digit = lower.starts_with(|letter: char| letter.is_ascii_digit());
        match (id.number(), id.slug(), lower.strip_prefix("step-")) {
            (None, ..) | (Some(_), Some(_), Some(_)) => Some(Self::Name),
            (Some(_), None, Some(_)) => Some(Self::Prefix { width: digits }),
            (Some(_), Some(_), None) if starts_with_digit => Some(Self::Slug),
            (Some(_), None, None) if starts_with_digit => Some(Self::Number { width: digits }),
            // `Step 3: Title`: the title of another step is not known.
            _ => None,
        }
    }

    /// `step` in this kind; `None` where the kind cannot name it.
    fn spell(self, step: &Step) -> Option<Value> {
        let name = step.name();
        let numbered = |width: usize| {
            let number = step.id.number()?;
            let letter = number.letter.map(String::from).unwrap_or_default();
            number.minor.is_none().then(|| format!("{:0width$}{letter}", number.major))
        };
        match self {
            Self::Integer => match step.id.number()? {
                number if number.letter.is_none() && number.minor.is_none() => {
                    Some(Value::Integer(i64::from(number.major)))
                }
                _ => numbered(2).map(Value::String),
            },
            Self::Number { width } => numbered(width).map(Value::String),
            Self::Prefix { width } => numbered(width).map(|number| Value::String(format!("step-{number}"))),
            Self::Name => Some(Value::from(name)),
            Self::FileName => Some(Value::String(format!("{name}.md"))),
            Self::Slug => Some(Value::from(name.strip_prefix("step-").unwrap_or(name))),
            Self::Map => Some(Value::mapping([("step", Value::from(name))])),
        }
    }
}

/// `given` as the next item of a list. `step` is what it means in the workflow, where that is known.
pub(super) fn item(given: &str, step: Option<&Step>, items: &[StepItem]) -> Value {
    let kind = items.iter().rev().find_map(|item| {
        let is_integer = item.kind == StepItemKind::Scalar(FieldKind::Integer);
        Kind::of(&item.spelling, is_integer, item.kind == StepItemKind::Map)
    });
    match (kind, step) {
        // Into an empty list the name goes, which BMAD's own resume looks for; without a workflow the given
        // spelling, a bare number as a number.
        (None, Some(step)) if items.is_empty() && StepId::parse(given).slug().is_none() => {
            Value::from(step.name())
        }
        (None, _) if items.is_empty() => whole_number(given).unwrap_or_else(|| Value::from(given)),
        (Some(kind), Some(step)) => kind.spell(step).unwrap_or_else(|| Value::from(given)),
        (Some(Kind::Integer), None) => given.parse().map_or_else(|_| Value::from(given), Value::Integer),
        (Some(Kind::Map), None) => Value::mapping([("step", Value::from(given))]),
        _ => Value::from(given),
    }
}

/// `item` with the mark of a step that was skipped, unless it has one.
pub(super) fn skipped(item: Value) -> Value {
    match item {
        Value::Integer(number) => Value::String(format!("{number}-skipped")),
        Value::String(text) if !StepId::parse(&text).is_skipped() => {
            let (name, ending) = text.strip_suffix(".md").map_or((&*text, ""), |name| (name, ".md"));
            Value::String(format!("{name}-skipped{ending}"))
        }
        Value::Mapping(entries) => {
            Value::Mapping(entries.into_iter().map(|(key, value)| (key, skipped(value))).collect())
        }
        item => item,
    }
}

/// Returns whether the list holds numbers, as far as it has a kind.
pub(super) fn are_integers(items: &[StepItem]) -> bool {
    items.iter().rev().find_map(|item| {
        let is_integer = item.kind == StepItemKind::Scalar(FieldKind::Integer);
        Kind::of(&item.spelling, is_integer, item.kind == StepItemKind::Map)
    }) == Some(Kind::Integer)
}

/// Returns whether an item is of the kind of those in the list, as far as that has one: a list of numbers and
/// names is read by no tool as one list.
pub(super) fn is_alike(item: &StepItem, items: &[StepItem]) -> bool {
    let kind = |item: &StepItem| {
        let is_integer = item.kind == StepItemKind::Scalar(FieldKind::Integer);
        Kind::of(&item.spelling, is_integer, item.kind == StepItemKind::Map)
    };
    let is_number = |kind: Kind| matches!(kind, Kind::Integer);
    match (kind(item), items.iter().rev().find_map(kind)) {
        (Some(own), Some(other)) => is_number(own) == is_number(other),
        (None, Some(other)) => !is_number(other),
        (_, None) => true,
    }
}

/// A number that is spelled as every reader spells it: `3`, but neither `03` nor `+3`.
fn whole_number(given: &str) -> Option<Value> {
    given.parse::<i64>().ok().filter(|number| number.to_string() == given).map(Value::Integer)
}

/// `step` in the kind of an existing `lastStep` or `currentStep`; the kind of the list where the key is
/// empty.
pub(super) fn field(old: &Field, given: &str, step: Option<&Step>, items: &[StepItem]) -> Option<Value> {
    let Some(text) = old.filled() else { return Some(item(given, step, items)) };
    let kind = Kind::of(text, old.kind == FieldKind::Integer, false);
    match (kind, step) {
        (Some(kind), Some(step)) => kind.spell(step),
        (Some(Kind::Integer), None) => given.parse().ok().map(Value::Integer),
        // Without a workflow only a spelling of the same kind is safe.
        (Some(kind), None) => (Kind::of(given, false, false) == Some(kind)).then(|| Value::from(given)),
        (None, _) => None,
    }
}
