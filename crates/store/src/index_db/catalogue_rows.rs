//! The rows of a CSV catalogue: one for each of its records, by header.

use serde_json::{Map, Value as Json};

use crate::index_db::{Row, Table, row::Cell, row::IntoCell as _, schema};

/// A catalogue that the inventory is taken from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Catalogue {
    /// Its table.
    pub(crate) table: &'static str,
    /// Its file, seen from the project root.
    pub(crate) path: &'static str,
}

impl Catalogue {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self { table: "agents", path: ".stepmark/manifests/agent-manifest.csv" },
        Self { table: "workflows", path: ".stepmark/manifests/workflow-manifest.csv" },
        Self { table: "skills", path: ".stepmark/manifests/skill-manifest.csv" },
        Self { table: "tasks", path: ".stepmark/manifests/task-manifest.csv" },
        Self { table: "tools", path: ".stepmark/manifests/tool-manifest.csv" },
        Self { table: "files", path: ".stepmark/manifests/files-manifest.csv" },
    ];
}

/// The rows of the catalogue with these bytes, in their order. Columns go by the header, whatever their
/// order; what no column of the table is called goes into `more`; a record that is too short lacks its last
/// columns. What is no UTF-8 stands there as U+FFFD.
pub(crate) fn catalogue_rows(catalogue: Catalogue, bytes: &[u8]) -> Vec<Row> {
    let Some(table) = schema::table(catalogue.table) else { return Vec::new() };
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(bytes);
    // Bytes in memory are read without failing, and records of any length are taken.
    let mut records = reader.byte_records().map_while(Result::ok);
    let Some(header) = records.next() else { return Vec::new() };
    let header: Vec<(String, Option<usize>)> = header
        .iter()
        .map(|name| {
            let name = String::from_utf8_lossy(name).trim().to_owned();
            let column = snake_case(&name);
            let place = table.columns.iter().position(|own| own.name == column);
            (name, place.filter(|_| !matches!(column.as_str(), "position" | "more")))
        })
        .collect();
    records.enumerate().map(|(number, record)| row(table, &header, number + 1, &record)).collect()
}

fn row(table: &Table, header: &[(String, Option<usize>)], number: usize, record: &csv::ByteRecord) -> Row {
    let mut row: Row = vec![Cell::Null; table.columns.len()];
    let mut more = Map::new();
    for (place, value) in record.iter().enumerate() {
        let value = String::from_utf8_lossy(value).into_owned();
        match header.get(place) {
            Some((_, Some(column))) => row[*column] = Cell::Text(value),
            Some((name, None)) => drop(more.insert(name.clone(), Json::String(value))),
            None => drop(more.insert(format!("column {}", place + 1), Json::String(value))),
        }
    }
    for (column, cell) in table.columns.iter().zip(&mut row) {
        match column.name {
            "position" => *cell = number.cell(),
            "more" if !more.is_empty() => *cell = Json::Object(std::mem::take(&mut more)).to_string().cell(),
            _ => {}
        }
    }
    row
}

/// `displayName` → `display_name`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 2);
    for character in name.chars() {
        if character.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(character.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(table: &str, text: &[u8]) -> Vec<Vec<(&'static str, String)>> {
        let catalogue = Catalogue::ALL.into_iter().find(|catalogue| catalogue.table == table).unwrap();
        let columns = schema::table(table).unwrap().columns;
        let shown = |cell: Cell| match cell {
            Cell::Text(text) => text,
            Cell::Integer(number) => number.to_string(),
            other => panic!("{other:?}"),
        };
        let named = |row: Row| {
            let named = columns.iter().zip(row).filter(|(_, cell)| *cell != Cell::Null);
            named.map(|(column, cell)| (column.name, shown(cell))).collect()
        };
        catalogue_rows(catalogue, text).into_iter().map(named).collect()
    }

    /// Table, bytes, and the columns of each row that are not NULL.
    type Case = (&'static str, &'static [u8], &'static [&'static [(&'static str, &'static str)]]);

    #[test]
    fn columns_go_by_the_header() {
        let cases: [Case; 7] = [
            ("tasks", b"", &[]),
            ("tasks", b"name,displayName\n", &[]),
            (
                "tasks",
                b"\xEF\xBB\xBFmodule,displayName,name\r\n\"bmm\",\"A \"\"b\"\", c\",x\r\n",
                &[&[("position", "1"), ("name", "x"), ("display_name", "A \"b\", c"), ("module", "bmm")]],
            ),
            (
                "skills",
                b"canonicalId,name,colour\na,b,red\n",
                &[&[
                    ("position", "1"),
                    ("canonical_id", "a"),
                    ("name", "b"),
                    ("more", "{\"colour\":\"red\"}"),
                ]],
            ),
            ("files", b"type,name\nmd\n", &[&[("position", "1"), ("type", "md")]]),
            (
                "files",
                b"type\nmd,\"two\nlines\"\ncsv\n",
                &[
                    &[("position", "1"), ("type", "md"), ("more", "{\"column 2\":\"two\\nlines\"}")],
                    &[("position", "2"), ("type", "csv")],
                ],
            ),
            // What a column of the table is called that is none of the catalogue's.
            (
                "tools",
                b"position,name,more\n7,\xFF,y\n",
                &[&[
                    ("position", "1"),
                    ("name", "\u{FFFD}"),
                    ("more", "{\"position\":\"7\",\"more\":\"y\"}"),
                ]],
            ),
        ];
        for (table, text, wanted) in cases {
            let wanted: Vec<Vec<(&str, String)>> = wanted
                .iter()
                .map(|row| row.iter().map(|(name, value)| (*name, (*value).to_owned())).collect())
                .collect();
            assert_eq!(read(table, text), wanted, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn every_catalogue_has_its_table() {
        assert!(Catalogue::ALL.iter().all(|catalogue| schema::table(catalogue.table).is_some()));
    }
}
