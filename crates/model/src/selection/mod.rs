//! Selection of artifacts, `status=blocked and scope>=large`, and sorting. Pure.
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
//! A value is a bare word, or a text in `'` or `"`; `~` means contains, ignoring case. Comparison depends on
//! the [field](SelectionField): scopes are ordered, statuses go by the artifact's lifecycle, a time may be a
//! whole day. A comparison that makes no sense for a field is an error with its position, not false.

mod parser;
mod evaluate;

pub use evaluate::{
    FieldType, FieldValue, Selectable, Selection, SelectionField, SortKey, SortKeys, StatusValue,
    parse_fields,
};
pub use parser::{SelectionError, SelectionErrorKind};

#[cfg(test)]
mod cases;
