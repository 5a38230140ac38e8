//! Selection of artifacts: `status=blocked and scope>=large`, and in which order. Pure: text → question;
//! question and row → yes or no.
//!
//! # The language
//! ```text
//! question   = all { "or" all }
//! all        = one { "and" one }
//! one        = "not" one | "(" question ")" | FIELD comparison
//! comparison = ( "=" | "!=" | "~" | "!~" | "<" | "<=" | ">" | ">=" ) VALUE
//!            | [ "not" ] "in" "(" VALUE { "," VALUE } ")"
//!            | "is" [ "not" ] "empty"
//! ```
//! A value is a bare word, or a text in `'` or `"`; `~` asks whether a text holds it, whatever its case. What
//! a comparison means depends on the [field](SelectionField): scopes have their order, a status is understood
//! by the lifecycle of its artifact, a time may be a whole day. A question that makes no sense for a field is
//! refused with its place, not answered with "no".

mod parser;
mod evaluate;

pub use evaluate::{
    FieldType, FieldValue, Selectable, Selection, SelectionField, SortKey, SortKeys, StatusValue,
    parse_fields,
};
pub use parser::{SelectionError, SelectionErrorKind};

#[cfg(test)]
mod cases;
