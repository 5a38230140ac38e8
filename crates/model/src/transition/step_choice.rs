//! Resolves steps named in a command.

use super::Remark;
use crate::artifact::{Field, FieldKind, StepItem, StepItemKind};
use crate::workflow::{
    Chain, Content, MatchedBy, Next, Step, StepForm, StepId, StepMatch, StepRecord, WorkflowDefinition,
};
use stepmark_frontmatter::Value;

pub(super) fn resolve<'w>(
    workflow: Option<&'w WorkflowDefinition>,
    id: &StepId,
    completed: &[StepId],
) -> (Option<&'w Step>, Option<Remark>) {
    let Some(workflow) = workflow else { return (None, None) };
    let given = || id.spelling().to_owned();
    let names = |steps: Vec<&Step>| steps.into_iter().map(|step| step.name().to_owned()).collect();
    match workflow.chain.find(id) {
        StepMatch::Step { step, by } => match other_name(&workflow.chain, id, (step, by)) {
            Some(remark) => (None, Some(remark)),
            None => (Some(step), out_of_order(workflow, id, step, completed)),
        },
        StepMatch::Number(steps) | StepMatch::Ambiguous(steps) => {
            (None, Some(Remark::AmbiguousStep { step: given(), candidates: names(steps) }))
        }
        StepMatch::None => (None, Some(unknown(workflow, id.spelling()))),
    }
}

pub(super) fn unknown(workflow: &WorkflowDefinition, given: &str) -> Remark {
    let near = nearest(&workflow.chain, given).map(|step| step.name().to_owned());
    Remark::UnknownStep { step: given.to_owned(), workflow: workflow.name.clone(), near }
}

/// Number and name of `id` are of different steps.
///
/// In a list this is a step of another release, which [`Chain::find`] resolves; in a command it is a mistake.
fn other_name(chain: &Chain, id: &StepId, (found, by): (&Step, MatchedBy)) -> Option<Remark> {
    let number = id.number()?;
    let is_by_name = by == MatchedBy::Slug && found.id.number() != Some(number);
    if !is_by_name && by != MatchedBy::NumberOfOtherName {
        return None;
    }
    let of_number = match chain.find(&StepId::parse(&number.to_string())) {
        StepMatch::Step { step, .. } => Some(step),
        _ => None,
    };
    let of_name = if is_by_name { Some(found) } else { nearest(chain, id.slug()?) };
    let name = |step: &Step| step.name().to_owned();
    let of_name = of_name.filter(|step| of_number.is_none_or(|other| other.id != step.id));
    Some(Remark::OtherName {
        step: id.spelling().to_owned(),
        of_number: of_number.map(name),
        of_name: of_name.map(name),
    })
}

fn nearest<'c>(chain: &'c Chain, slug: &str) -> Option<&'c Step> {
    let steps = chain.steps().iter();
    let likeness = |step: &'c Step| Some((strsim::jaro_winkler(slug, step.id.slug()?), step));
    let best = steps.filter_map(likeness).max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(likeness, _)| *likeness > 0.8).map(|(_, step)| step)
}

fn out_of_order(
    workflow: &WorkflowDefinition,
    id: &StepId,
    step: &Step,
    completed: &[StepId],
) -> Option<Remark> {
    if id.is_resume() {
        return None;
    }
    let record = StepRecord { completed, last_step: None, content: Content::Present };
    let progress = workflow.progress(&record);
    let expected = match &progress.next {
        Next::Step { step, alternatives } => {
            [*step].into_iter().chain(alternatives.iter().copied()).collect()
        }
        Next::Choice(steps) => steps.clone(),
        Next::Finished => Vec::new(),
        Next::Unknown(_) => return None,
    };
    if expected.iter().any(|next| next.id == step.id) || progress.gaps.iter().any(|gap| gap.id == step.id) {
        return None;
    }
    let names = expected.into_iter().map(|step| step.name().to_owned()).collect();
    Some(Remark::OutOfOrder { step: id.spelling().to_owned(), expected: names })
}

pub(super) fn is_completed(
    workflow: Option<&WorkflowDefinition>,
    completed: &[StepId],
    id: &StepId,
    step: Option<&Step>,
) -> bool {
    completed.iter().any(|done| names(workflow.map(|workflow| &workflow.chain), done, id, step))
}

pub(super) fn names(chain: Option<&Chain>, done: &StepId, id: &StepId, step: Option<&Step>) -> bool {
    if done.form() == id.form() && (id.number().is_some() || id.slug().is_some()) {
        return true;
    }
    match (chain, step) {
        (Some(chain), Some(step)) => {
            matches!(chain.find(done), StepMatch::Step { step: found, .. } if found.id == step.id)
        }
        _ => done.spelling() == id.spelling(),
    }
}

/// A spelling style in lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    /// `'3'`, `'03'`: text of this width.
    Number {
        width: usize,
    },
    /// `step-03-success`
    Name,
    /// `step-03-success.md`
    FileName,
    /// `03-success`
    Slug,
    /// `step-03`
    Prefix {
        width: usize,
    },
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
        // Resume markers and free words are not a style.
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
            // `Step 3: Title`: other titles are unknown.
            _ => None,
        }
    }

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

pub(super) fn item(given: &str, step: Option<&Step>, items: &[StepItem]) -> Value {
    let kind = items.iter().rev().find_map(|item| {
        let is_integer = item.kind == StepItemKind::Scalar(FieldKind::Integer);
        Kind::of(&item.spelling, is_integer, item.kind == StepItemKind::Map)
    });
    match (kind, step) {
        // An empty list gets the name, which BMAD's resume needs; without a workflow the given spelling.
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

pub(super) fn are_integers(items: &[StepItem]) -> bool {
    items.iter().rev().find_map(|item| {
        let is_integer = item.kind == StepItemKind::Scalar(FieldKind::Integer);
        Kind::of(&item.spelling, is_integer, item.kind == StepItemKind::Map)
    }) == Some(Kind::Integer)
}

/// No tool reads mixed lists of numbers and names.
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

/// Canonical numbers only: `3`, but neither `03` nor `+3`.
fn whole_number(given: &str) -> Option<Value> {
    given.parse::<i64>().ok().filter(|number| number.to_string() == given).map(Value::Integer)
}

/// In the style of the old value; if that is empty, of the list.
pub(super) fn field(old: &Field, given: &str, step: Option<&Step>, items: &[StepItem]) -> Option<Value> {
    let Some(text) = old.filled() else { return Some(item(given, step, items)) };
    let kind = Kind::of(text, old.kind == FieldKind::Integer, false);
    match (kind, step) {
        (Some(kind), Some(step)) => kind.spell(step),
        (Some(Kind::Integer), None) => given.parse().ok().map(Value::Integer),
        // Without a workflow only the same style is safe.
        (Some(kind), None) => (Kind::of(given, false, false) == Some(kind)).then(|| Value::from(given)),
        (None, _) => None,
    }
}
