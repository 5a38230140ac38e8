//! One row of a catalogue, whatever its columns are.

use std::collections::BTreeMap;

use super::Column;

/// An agent, workflow, skill, task or tool: what is known of it by column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry(BTreeMap<Column, String>);

impl Entry {
    /// The value of a column; empty where nothing is known.
    pub fn get(&self, column: Column) -> &str {
        self.0.get(&column).map_or("", String::as_str)
    }

    /// The entry with a value in a column.
    #[must_use]
    pub fn with(mut self, column: Column, value: impl Into<String>) -> Self {
        self.0.insert(column, value.into());
        self
    }

    /// The fields of a row with these columns; of a column that is unknown, nothing.
    pub fn row<'a>(&'a self, columns: &'a [String]) -> impl Iterator<Item = &'a str> {
        columns.iter().map(|column| Column::named(column).map_or("", |column| self.get(column)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_columns_of_its_catalogue_in_their_order() {
        let entry = Entry::default().with(Column::Path, "a/b.md").with(Column::Name, "b");
        let columns = ["path", "install_to_bmad", "name", "title"].map(str::to_owned);
        assert_eq!(entry.row(&columns).collect::<Vec<_>>(), ["a/b.md", "", "b", ""]);
    }
}
