//! Tables: their columns with their meaning, and what makes a row unique.

#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    pub part: Part,
    pub about: &'static str,
    pub columns: &'static [Column],
    /// The columns of its primary key. Rows lie in their order, so that a query without `ORDER BY` is
    /// answered alike whatever way the rows came.
    pub key: &'static str,
    /// Columns that are looked up otherwise: an index for each entry.
    pub indices: &'static [&'static str],
}

#[derive(Debug)]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnKind,
    pub about: &'static str,
}

/// The kind of the values of a column, beside NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Text,
    Integer,
    Real,
}

impl ColumnKind {
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Text => "TEXT",
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
        }
    }
}

pub(super) const fn text(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: ColumnKind::Text, about }
}

pub(super) const fn integer(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: ColumnKind::Integer, about }
}

pub(super) const fn real(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: ColumnKind::Real, about }
}

pub type Cell = rusqlite::types::Value;

/// A row: a value for each column of its table, in order.
pub type Row = Vec<Cell>;

/// A type that becomes a value.
pub(crate) trait IntoCell {
    fn cell(self) -> Cell;
}

impl IntoCell for String {
    fn cell(self) -> Cell {
        Cell::Text(self)
    }
}

impl IntoCell for &str {
    fn cell(self) -> Cell {
        Cell::Text(self.to_owned())
    }
}

impl IntoCell for bool {
    fn cell(self) -> Cell {
        Cell::Integer(i64::from(self))
    }
}

impl IntoCell for i64 {
    fn cell(self) -> Cell {
        Cell::Integer(self)
    }
}

impl IntoCell for u64 {
    /// Counts and sizes; what no such number holds is the largest that it can hold.
    fn cell(self) -> Cell {
        Cell::Integer(i64::try_from(self).unwrap_or(i64::MAX))
    }
}

impl IntoCell for usize {
    fn cell(self) -> Cell {
        (self as u64).cell()
    }
}

impl IntoCell for f64 {
    fn cell(self) -> Cell {
        Cell::Real(self)
    }
}

impl<T: IntoCell> IntoCell for Option<T> {
    fn cell(self) -> Cell {
        self.map_or(Cell::Null, IntoCell::cell)
    }
}

/// Adds values to what will be hashed, so that rows can be compared without being kept: a letter for the
/// kind, the length, the bytes.
pub(crate) fn add_to_digest(row: &[Cell], text: &mut Vec<u8>) {
    for cell in row {
        let (letter, bytes) = match cell {
            Cell::Null => (b'n', Vec::new()),
            Cell::Integer(number) => (b'i', number.to_be_bytes().to_vec()),
            Cell::Real(number) => (b'r', number.to_bits().to_be_bytes().to_vec()),
            Cell::Text(text) => (b't', text.as_bytes().to_vec()),
            Cell::Blob(bytes) => (b'b', bytes.clone()),
        };
        text.push(letter);
        text.extend((bytes.len() as u64).to_be_bytes());
        text.extend(bytes);
    }
    text.push(b'.');
}

/// A part: tables that come from the same source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    Inventory,
    Artifacts,
    Events,
    Findings,
    Leases,
    /// Tickets of all trackers. The caller brings the rows: what stands in a tracker is known to another
    /// crate.
    Tickets,
    /// Signs of life of agents, and the files that follow records.
    Systems,
    /// Memories and their edges. The caller brings the rows, too.
    Memory,
}

impl Part {
    /// All parts, in the order in which they are brought up to date.
    pub const ALL: [Self; 8] = [
        Self::Inventory,
        Self::Artifacts,
        Self::Events,
        Self::Findings,
        Self::Leases,
        Self::Tickets,
        Self::Systems,
        Self::Memory,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Inventory => "inventory",
            Self::Artifacts => "artifacts",
            Self::Events => "events",
            Self::Findings => "findings",
            Self::Leases => "leases",
            Self::Tickets => "tickets",
            Self::Systems => "systems",
            Self::Memory => "memory",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts(u8);

impl Parts {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self(0b1111_1111);

    #[must_use]
    pub const fn with(self, part: Part) -> Self {
        Self(self.0 | 1 << part as u8)
    }

    pub const fn contains(self, part: Part) -> bool {
        self.0 & 1 << part as u8 != 0
    }
}

impl FromIterator<Part> for Parts {
    fn from_iter<I: IntoIterator<Item = Part>>(parts: I) -> Self {
        parts.into_iter().fold(Self::NONE, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_a_set() {
        assert_eq!(Part::ALL.into_iter().collect::<Parts>(), Parts::ALL);
        for part in Part::ALL {
            let others: Parts = Part::ALL.into_iter().filter(|other| *other != part).collect();
            assert!(!Parts::NONE.contains(part) && !others.contains(part));
            assert_eq!(others.with(part), Parts::ALL);
        }
    }
}
