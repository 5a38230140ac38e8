//! Question and artifact → yes or no.

use std::cmp::Ordering;

use super::{FieldValue, SelectionError, SelectionField, parser};
use super::{parser::Operator, value::TimeLiteral, value::scope_rank};
use crate::artifact::Scope;

/// Something that a question can be asked of. A value is asked for only where the question needs it, and
/// again for each mention.
pub trait Selectable {
    fn value(&self, field: SelectionField) -> FieldValue;
}

/// A question about artifacts.
///
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
    /// Reads a question, which may be about `keys` of frontmatter, too.
    pub fn parse(text: &str, keys: &[&'static str]) -> Result<Self, SelectionError> {
        parser::parse(text, keys).map(Self)
    }

    /// Returns whether the answer is yes. What says nothing in a field is equal to no value, and neither less
    /// nor greater.
    pub fn matches(&self, row: &dyn Selectable) -> bool {
        holds(&self.0, row)
    }

    /// Returns whether the question is about `field`, for whoever has to look for its values.
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

/// Compares a value with that of a question; `None` where they have no order.
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
    /// It does not hold.
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

/// A value in a question, of the type of its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    Text(String),
    Number(u64),
    Scope(Scope),
    Time(TimeLiteral),
}
