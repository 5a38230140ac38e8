//! Tables: their columns with their meaning, and what makes a row unique.

use crate::index_db::Part;

/// A table of the database.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The part that its rows come from.
    pub part: Part,
    /// The description of a row.
    pub about: &'static str,
    /// The columns, in order.
    pub columns: &'static [Column],
    /// The columns of its primary key. Rows lie in their order, so that a query without `ORDER BY` is
    /// answered alike whatever way the rows came.
    pub key: &'static str,
    /// Columns that are looked up otherwise: an index for each entry.
    pub indices: &'static [&'static str],
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// The meaning of the column.
    pub about: &'static str,
}

/// The kind of the values of a column, beside NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Real,
}

impl ColumnKind {
    /// The word in SQL.
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Text => "TEXT",
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
        }
    }
}

/// A column of text.
pub(super) const fn text(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: ColumnKind::Text, about }
}

/// A column of whole numbers.
pub(super) const fn integer(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: ColumnKind::Integer, about }
}

/// A column of numbers.
pub(super) const fn real(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: ColumnKind::Real, about }
}
