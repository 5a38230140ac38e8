//! A question that was understood.

use super::{SelectionField, lexer::Operator, time_literal::TimeLiteral};
use crate::artifact::Scope;

/// A question, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expression {
    /// All of them hold.
    All(Vec<Expression>),
    /// One of them holds.
    Any(Vec<Expression>),
    /// It does not hold.
    Not(Box<Expression>),
    /// A field is compared with a value that it can have.
    Compare { field: SelectionField, operator: Operator, value: Literal },
    /// A field is equal to one of several values.
    In { field: SelectionField, values: Vec<Literal> },
    /// A field says nothing.
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
