//! Selection and artifact → match or not.

use std::{cmp::Ordering, ops::Range, sync::Arc};

use super::{
    SelectionError, SelectionErrorKind,
    parser::{self, Operator},
};
use crate::{
    artifact::{Artifact, Field as ArtifactField, Scope, natural_order},
    lifecycle::Lifecycle,
    spelling::near_words,
};
use jiff::{Timestamp, ToSpan, civil, tz::TimeZone};
use stepmark_frontmatter::{Node, NodeKind, Span};

/// Values are computed on demand, again for each mention.
pub trait Selectable {
    fn value(&self, field: SelectionField) -> FieldValue;
}

/// ```
/// use stepmark_model::selection::{SelectionField, FieldValue, Selectable, Selection};
///
/// struct Done(u64);
/// impl Selectable for Done {
///     fn value(&self, field: SelectionField) -> FieldValue {
///         if field == SelectionField::Done { FieldValue::Number(self.0) } else { FieldValue::Empty }
///     }
/// }
/// let selection = Selection::parse("done >= 3 and status is empty", &[])?;
/// assert!(selection.matches(&Done(3)) && !selection.matches(&Done(2)));
/// # Ok::<(), stepmark_model::selection::SelectionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection(Expression);

impl Selection {
    /// `keys` are frontmatter keys to allow besides fields.
    pub fn parse(text: &str, keys: &[&'static str]) -> Result<Self, SelectionError> {
        parser::parse(text, keys).map(Self)
    }

    /// An empty field equals no value, and is neither less nor greater.
    pub fn matches(&self, row: &dyn Selectable) -> bool {
        holds(&self.0, row)
    }

    pub fn mentions(&self, field: SelectionField) -> bool {
        mentions(&self.0, field)
    }
}

fn mentions(expression: &Expression, field: SelectionField) -> bool {
    match expression {
        Expression::All(parts) | Expression::Any(parts) => parts.iter().any(|part| mentions(part, field)),
        Expression::Not(inner) => mentions(inner, field),
        Expression::IsEmpty(own)
        | Expression::In { field: own, .. }
        | Expression::Compare { field: own, .. } => *own == field,
    }
}

fn holds(expression: &Expression, row: &dyn Selectable) -> bool {
    match expression {
        Expression::All(parts) => parts.iter().all(|part| holds(part, row)),
        Expression::Any(parts) => parts.iter().any(|part| holds(part, row)),
        Expression::Not(inner) => !holds(inner, row),
        Expression::IsEmpty(field) => row.value(*field).is_empty(),
        Expression::In { field, values } => {
            let value = row.value(*field);
            values.iter().any(|literal| is_equal(&value, literal))
        }
        Expression::Compare { field, operator, value } => compare(&row.value(*field), *operator, value),
    }
}

fn compare(value: &FieldValue, operator: Operator, literal: &Literal) -> bool {
    let order = || order(value, literal);
    match operator {
        Operator::Equal => is_equal(value, literal),
        Operator::Unequal => !is_equal(value, literal),
        Operator::Holds => holds_text(value, literal),
        Operator::HoldsNot => !holds_text(value, literal),
        Operator::Less => order() == Some(Ordering::Less),
        Operator::LessOrEqual => order().is_some_and(Ordering::is_le),
        Operator::Greater => order() == Some(Ordering::Greater),
        Operator::GreaterOrEqual => order().is_some_and(Ordering::is_ge),
    }
}

fn is_equal(value: &FieldValue, literal: &Literal) -> bool {
    match (value, literal) {
        (FieldValue::Text(text), Literal::Text(asked)) => text == asked,
        (FieldValue::Texts(texts), Literal::Text(asked)) => texts.contains(asked),
        (FieldValue::Status(status), Literal::Text(asked)) => status.is(asked),
        _ => order(value, literal) == Some(Ordering::Equal),
    }
}

fn order(value: &FieldValue, literal: &Literal) -> Option<Ordering> {
    match (value, literal) {
        (FieldValue::Number(number), Literal::Number(asked)) => Some(number.cmp(asked)),
        (FieldValue::Scope(scope), Literal::Scope(asked)) => {
            Some(scope_rank(scope)?.cmp(&scope_rank(asked)?))
        }
        (FieldValue::Status(status), Literal::Text(asked)) => status.compare(asked),
        (FieldValue::Time(time), Literal::Time(asked)) => Some(asked.compare(*time)),
        _ => None,
    }
}

fn holds_text(value: &FieldValue, literal: &Literal) -> bool {
    let Literal::Text(asked) = literal else { return false };
    let asked = asked.to_lowercase();
    let holds = |text: &String| text.to_lowercase().contains(&asked);
    match value {
        FieldValue::Text(text) => holds(text),
        FieldValue::Texts(texts) => texts.iter().any(holds),
        FieldValue::Status(status) => holds(&status.word),
        _ => false,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expression {
    All(Vec<Expression>),
    Any(Vec<Expression>),
    /// Holds if the expression does not.
    Not(Box<Expression>),
    Compare {
        field: SelectionField,
        operator: Operator,
        value: Literal,
    },
    In {
        field: SelectionField,
        values: Vec<Literal>,
    },
    IsEmpty(SelectionField),
}

/// Of the type of its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    Text(String),
    Number(u64),
    Scope(Scope),
    Time(TimeLiteral),
}

#[derive(Clone, Debug)]
pub enum FieldValue {
    Empty,
    Text(String),
    /// One has to match; never empty.
    Texts(Vec<String>),
    Number(u64),
    Scope(Scope),
    Status(StatusValue),
    Time(Timestamp),
}

#[derive(Clone, Debug)]
pub struct StatusValue {
    pub word: String,
    pub lifecycle: Option<Arc<Lifecycle>>,
}

impl FieldValue {
    pub fn of_text(text: Option<String>) -> Self {
        text.filter(|text| !text.is_empty()).map_or(Self::Empty, Self::Text)
    }

    pub fn of_texts(mut texts: Vec<String>) -> Self {
        if texts.len() > 1 { Self::Texts(texts) } else { Self::of_text(texts.pop()) }
    }

    /// Ignores what is not a time.
    pub fn latest_of(times: &[ArtifactField]) -> Self {
        let moments = times.iter().filter_map(|time| TimeLiteral::parse(time.filled()?.trim()));
        moments.map(|time| time.start()).max().map_or(Self::Empty, Self::Time)
    }

    /// As written; of a list each item.
    pub fn of_key(artifact: &Artifact, key: &str) -> Self {
        let yaml = artifact.state_yaml();
        let Some(node) = yaml.as_ref().and_then(|yaml| yaml.root()?.get(key)) else { return Self::Empty };
        let text = |node: &Node<'_>| match node.text() {
            Some(text) => text.to_owned(),
            None => String::from_utf8_lossy(&artifact.bytes()[node.span.range()]).into_owned(),
        };
        match &node.kind {
            NodeKind::Sequence { items, .. } => Self::of_texts(items.iter().map(text).collect()),
            _ => Self::of_text((!node.is_null()).then(|| text(node))),
        }
    }

    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// `null` if empty; several texts are a list.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Empty => serde_json::Value::Null,
            Self::Texts(texts) => texts.as_slice().into(),
            Self::Number(number) => (*number).into(),
            other => other.to_string().into(),
        }
    }

    /// For sorting: empty values last, statuses by progress, then by word.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one.cmp(other),
            (Self::Time(one), Self::Time(other)) => one.cmp(other),
            (Self::Scope(one), Self::Scope(other)) => {
                // Unknown scopes come last.
                let rank = |scope: &Scope| (scope_rank(scope).unwrap_or(u8::MAX), scope.to_string());
                rank(one).cmp(&rank(other))
            }
            (Self::Status(one), Self::Status(other)) => {
                let key = |status: &StatusValue| (status.rank().unwrap_or(u32::MAX), status.word.clone());
                key(one).cmp(&key(other))
            }
            (one, other) => natural_order(&one.to_string(), &other.to_string()),
        }
    }
}

impl StatusValue {
    /// By lifecycle state; unknown ones by word.
    pub(super) fn is(&self, asked: &str) -> bool {
        let state = |word: &str| self.lifecycle.as_ref()?.state_of(word).map(|state| &state.name);
        match (state(&self.word), state(asked)) {
            (Some(own), Some(asked)) => own == asked,
            (None, None) => folded(&self.word) == folded(asked),
            _ => false,
        }
    }

    pub(super) fn compare(&self, asked: &str) -> Option<Ordering> {
        if self.is(asked) {
            return Some(Ordering::Equal);
        }
        let asked = self.lifecycle.as_ref()?.state_of(asked)?.rank?;
        Some(self.rank()?.cmp(&asked))
    }

    fn rank(&self) -> Option<u32> {
        self.lifecycle.as_ref()?.state_of(&self.word)?.rank
    }
}

fn folded(word: &str) -> String {
    word.trim().replace(['_', ' '], "-").to_lowercase()
}

pub(super) const fn scope_rank(scope: &Scope) -> Option<u8> {
    match scope {
        Scope::Micro => Some(0),
        Scope::Small => Some(1),
        Scope::Medium => Some(2),
        Scope::Large => Some(3),
        Scope::Epic => Some(4),
        Scope::Unknown(_) => None,
    }
}

impl std::fmt::Display for FieldValue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => Ok(()),
            Self::Text(text) => out.write_str(text),
            Self::Texts(texts) => out.write_str(&texts.join(" | ")),
            Self::Number(number) => number.fmt(out),
            Self::Scope(scope) => scope.fmt(out),
            Self::Status(status) => out.write_str(&status.word),
            Self::Time(time) => time.fmt(out),
        }
    }
}

/// A moment, or a whole day in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimeLiteral(Range<Timestamp>);

impl TimeLiteral {
    /// UTC without an offset.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Ok(moment) = text.parse::<Timestamp>() {
            return Some(Self(moment..moment));
        }
        // Dates with a time also parse as dates, so the length decides.
        let is_day = text.len() <= "2026-01-31".len();
        if is_day && let Ok(day) = text.parse::<civil::Date>() {
            let next = day.checked_add(1.day()).ok()?;
            return Some(Self(start_of(day.into())?..start_of(next.into())?));
        }
        let moment = start_of(text.parse::<civil::DateTime>().ok()?)?;
        Some(Self(moment..moment))
    }

    pub(super) const fn start(&self) -> Timestamp {
        self.0.start
    }

    /// Equal to any moment of the day.
    pub(super) fn compare(&self, moment: Timestamp) -> Ordering {
        if moment < self.0.start {
            Ordering::Less
        } else if moment == self.0.start || moment < self.0.end {
            Ordering::Equal
        } else {
            Ordering::Greater
        }
    }
}

fn start_of(moment: civil::DateTime) -> Option<Timestamp> {
    moment.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SelectionField {
    Path,
    /// Its own id, else the one from `track`.
    Id,
    Title,
    Workflow,
    Status,
    /// From `micro` to `epic`.
    Scope,
    /// `not-started`, `interrupted`, `underway` or `finished`.
    WorkState,
    Done,
    Total,
    /// In whole percent of steps.
    Progress,
    /// Several if there is a choice.
    Next,
    Agent,
    Parent,
    /// Errors and warnings in this artifact alone.
    Problems,
    Modified,
    Updated,
    Key(&'static str),
}

/// Decides the operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    Text,
    Status,
    /// Ordered.
    Scope,
    Number,
    Time,
}

impl SelectionField {
    /// In display order, without frontmatter keys.
    pub const ALL: [Self; 16] = [
        Self::Path,
        Self::Id,
        Self::Title,
        Self::Workflow,
        Self::Status,
        Self::Scope,
        Self::WorkState,
        Self::Done,
        Self::Total,
        Self::Progress,
        Self::Next,
        Self::Agent,
        Self::Parent,
        Self::Problems,
        Self::Modified,
        Self::Updated,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Id => "id",
            Self::Title => "title",
            Self::Workflow => "workflow",
            Self::Status => "status",
            Self::Scope => "scope",
            Self::WorkState => "work_state",
            Self::Done => "done",
            Self::Total => "total",
            Self::Progress => "progress",
            Self::Next => "next",
            Self::Agent => "agent",
            Self::Parent => "parent",
            Self::Problems => "problems",
            Self::Modified => "modified",
            Self::Updated => "updated",
            Self::Key(name) => name,
        }
    }

    pub const fn kind(self) -> FieldType {
        match self {
            Self::Path
            | Self::Id
            | Self::Title
            | Self::Workflow
            | Self::WorkState
            | Self::Next
            | Self::Agent
            | Self::Parent
            | Self::Key(_) => FieldType::Text,
            Self::Status => FieldType::Status,
            Self::Scope => FieldType::Scope,
            Self::Done | Self::Total | Self::Progress | Self::Problems => FieldType::Number,
            Self::Modified | Self::Updated => FieldType::Time,
        }
    }

    /// Ignores case for fields, not for `keys`; `at` is for errors.
    pub fn named(name: &str, at: Span, keys: &[&'static str]) -> Result<Self, SelectionError> {
        if name.is_empty() {
            let kind = SelectionErrorKind::Unexpected { wanted: "the name of a field" };
            return Err(SelectionError { span: at, kind });
        }
        let lower = name.to_lowercase();
        let key = || keys.iter().find(|key| **key == name).map(|key| Self::Key(key));
        Self::ALL.into_iter().find(|field| field.name() == lower).or_else(key).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            let kind =
                SelectionErrorKind::UnknownField { name: name.to_owned(), near: near_words(&lower, names) };
            SelectionError { span: at, kind }
        })
    }
}

pub fn parse_fields(text: &str, keys: &[&'static str]) -> Result<Vec<SelectionField>, SelectionError> {
    parts(text).map(|(name, at)| SelectionField::named(name, at, keys)).collect()
}

/// Comma-separated and trimmed, with positions.
pub(super) fn parts(text: &str) -> impl Iterator<Item = (&str, Span)> {
    let mut start = 0;
    text.split(',').map(move |part| {
        let word = part.trim();
        let at = start + part.len() - part.trim_start().len();
        start += part.len() + 1;
        (word, Span::new(at, at + word.len()))
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    pub field: SelectionField,
    /// `-FIELD`
    pub is_descending: bool,
}

/// The first counts most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SortKeys(pub Vec<SortKey>);

impl SortKeys {
    pub fn parse(text: &str, keys: &[&'static str]) -> Result<Self, SelectionError> {
        let key = |(word, at): (&str, Span)| {
            let name = word.strip_prefix('-');
            let at = Span::new(at.start + usize::from(name.is_some()), at.end);
            let field = SelectionField::named(name.unwrap_or(word), at, keys)?;
            Ok(SortKey { field, is_descending: name.is_some() })
        };
        parts(text).map(key).collect::<Result<_, _>>().map(Self)
    }

    /// Stable; empty values come last in both directions.
    pub fn sort<T: Selectable>(&self, rows: Vec<T>) -> Vec<T> {
        let values = |row: &T| self.0.iter().map(|key| row.value(key.field)).collect::<Vec<_>>();
        let mut keyed: Vec<(Vec<FieldValue>, T)> = rows.into_iter().map(|row| (values(&row), row)).collect();
        keyed.sort_by(|(one, _), (other, _)| self.compare(one, other));
        keyed.into_iter().map(|(_, row)| row).collect()
    }

    fn compare(&self, one: &[FieldValue], other: &[FieldValue]) -> Ordering {
        let pairs = self.0.iter().zip(one.iter().zip(other));
        let orders = pairs.map(|(key, (one, other))| match (one.is_empty(), other.is_empty()) {
            (false, false) if key.is_descending => other.order(one),
            (false, false) => one.order(other),
            (one, other) => one.cmp(&other),
        });
        orders.fold(Ordering::Equal, Ordering::then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_equal_to_each_of_its_moments() {
        let day = TimeLiteral::parse("2026-01-31").unwrap();
        for (moment, expected) in [
            ("2026-01-30T23:59:59Z", Ordering::Less),
            ("2026-01-31T00:00:00Z", Ordering::Equal),
            ("2026-01-31T23:59:59.9Z", Ordering::Equal),
            ("2026-02-01T00:00:00Z", Ordering::Greater),
        ] {
            assert_eq!(day.compare(moment.parse().unwrap()), expected, "{moment}");
        }
        let moment = TimeLiteral::parse("2026-01-31T09:30:00+02:00").unwrap();
        assert_eq!(moment.compare("2026-01-31T07:30:00Z".parse().unwrap()), Ordering::Equal);
        assert_eq!(moment.compare("2026-01-31T07:30:01Z".parse().unwrap()), Ordering::Greater);
        assert_eq!(TimeLiteral::parse("2026-01-31 07:30:00"), TimeLiteral::parse("2026-01-31T07:30:00Z"));
        for other in ["", "yesterday", "2026-02-30", "12"] {
            assert_eq!(TimeLiteral::parse(other), None, "{other}");
        }
    }
}
