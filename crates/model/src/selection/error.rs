//! Errors of questions.

use super::FieldType;
use stepmark_frontmatter::Span;

/// A question that cannot be understood, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct SelectionError {
    pub span: Span,
    pub kind: SelectionErrorKind,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionErrorKind {
    #[error("no field is called `{name}`")]
    UnknownField { name: String, near: Vec<String> },
    #[error("{wanted} is wanted here")]
    Unexpected { wanted: &'static str },
    #[error("this text has no closing quote")]
    UnclosedText,
    #[error("this stands deeper than {limit} parentheses and `not`")]
    TooDeep { limit: usize },
    #[error("`{operator}` cannot be asked of `{field}`, which is {kind}")]
    NoSuchComparison { field: &'static str, operator: &'static str, kind: FieldType },
    #[error("`{field}` is {kind}, and `{value}` is none")]
    WrongValue { field: &'static str, value: String, kind: FieldType },
}

impl SelectionError {
    pub fn help(&self) -> Option<String> {
        match &self.kind {
            SelectionErrorKind::UnknownField { near, .. } => Some(match near.as_slice() {
                [] => format!(
                    "the fields are {}",
                    super::SelectionField::ALL.map(super::SelectionField::name).join(", ")
                ),
                near => format!(
                    "is `{}` meant? The fields are {}",
                    near.join("` or `"),
                    super::SelectionField::ALL.map(super::SelectionField::name).join(", ")
                ),
            }),
            SelectionErrorKind::NoSuchComparison { kind, .. } => Some(
                match kind {
                    FieldType::Text => {
                        "texts are compared with `=`, `!=`, `~` (holds), `!~`, `in (…)` and `is empty`"
                    }
                    FieldType::Status | FieldType::Scope | FieldType::Number | FieldType::Time => {
                        "`=`, `!=`, `<`, `<=`, `>`, `>=`, `in (…)` and `is empty` can be asked"
                    }
                }
                .to_owned(),
            ),
            SelectionErrorKind::WrongValue { kind, .. } => match kind {
                FieldType::Scope => Some("scopes are micro, small, medium, large and epic".to_owned()),
                FieldType::Time => {
                    Some("write a day as `2026-01-31`, a moment as `2026-01-31T09:30:00Z`".to_owned())
                }
                FieldType::Number => Some("write a whole number".to_owned()),
                FieldType::Text | FieldType::Status => None,
            },
            SelectionErrorKind::UnclosedText => Some("a quote inside of a text is written twice".to_owned()),
            SelectionErrorKind::Unexpected { .. } | SelectionErrorKind::TooDeep { .. } => None,
        }
    }
}

impl std::fmt::Display for FieldType {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Text => "a text",
            Self::Status => "a status",
            Self::Scope => "a scope",
            Self::Number => "a whole number",
            Self::Time => "a time",
        })
    }
}
