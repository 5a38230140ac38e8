//! Rows, as they go into the database and come out of it.

/// A value of a row.
pub type Cell = rusqlite::types::Value;

/// A row: a value for each column of its table, in order.
pub type Row = Vec<Cell>;

/// A type that becomes a value.
pub(crate) trait IntoCell {
    /// The value.
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
