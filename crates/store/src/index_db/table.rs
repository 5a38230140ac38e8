//! Tables: columns with meanings, and keys.

use crate::index_db::schema;
use serde_json::{Map, Value as Json};

#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    pub part: Part,
    pub about: &'static str,
    pub columns: &'static [Column],
    /// Primary key columns. Rows are stored in their order, so that a query without `ORDER BY` always has the
    /// same answer.
    pub key: &'static str,
    /// One index for each entry.
    pub indices: &'static [&'static str],
}

#[derive(Debug)]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnKind,
    pub about: &'static str,
}

/// NULL is always allowed.
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

pub type Row = Vec<Cell>;

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
    /// Saturates at the largest number.
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

/// For each value: a letter for the kind, the length, the bytes.
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

/// Tables from the same source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    Inventory,
    Artifacts,
    Events,
    Findings,
    Leases,
    /// Of all trackers. Rows come from the caller, since another crate knows trackers.
    Tickets,
    /// Agents' signs of life, and files written from records.
    Systems,
    /// Memories and their edges; rows come from the caller.
    Memory,
}

impl Part {
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

const POSITION: Column = integer("position", "Row of the CSV file, from 1");
const MORE: Column =
    text("more", "JSON object of the columns that are not listed here; NULL where there are none");
const MODULE: Column = text("module", "Module that it belongs to");
const PATH: Column = text("path", "Path as the catalogue gives it");
const STANDALONE: Column = text("standalone", "`true` where it can be started by itself");
const CANONICAL_ID: Column = text("canonical_id", "Name under which it is installed");
const NAME: Column = text("name", "Name");
const DISPLAY_NAME: Column = text("display_name", "Name for people");
const DESCRIPTION: Column = text("description", "What it is for");

const fn inventory(name: &'static str, about: &'static str, columns: &'static [Column]) -> Table {
    Table { name, part: Part::Inventory, about, columns, key: "position", indices: &[] }
}

pub(super) const INVENTORY_TABLES: [Table; 6] = [
    inventory(
        "agents",
        "A row of `agent-manifest.csv`.",
        &[
            POSITION,
            NAME,
            DISPLAY_NAME,
            text("title", "What it is called in the project"),
            text("icon", "Its sign"),
            text("capabilities", "What it can do"),
            text("role", "Its role"),
            text("identity", "Who it is"),
            text("communication_style", "How it speaks"),
            text("principles", "What it holds to"),
            MODULE,
            PATH,
            CANONICAL_ID,
            MORE,
        ],
    ),
    inventory(
        "workflows",
        "A row of `workflow-manifest.csv`.",
        &[POSITION, NAME, DESCRIPTION, MODULE, PATH, CANONICAL_ID, STANDALONE, MORE],
    ),
    inventory(
        "skills",
        "A row of `skill-manifest.csv`.",
        &[
            POSITION,
            CANONICAL_ID,
            NAME,
            DESCRIPTION,
            MODULE,
            PATH,
            text("install_to_bmad", "`true` where its folder stays in `_bmad/`"),
            MORE,
        ],
    ),
    inventory(
        "tasks",
        "A row of `task-manifest.csv`.",
        &[POSITION, NAME, DISPLAY_NAME, DESCRIPTION, MODULE, PATH, STANDALONE, MORE],
    ),
    inventory(
        "tools",
        "A row of `tool-manifest.csv`.",
        &[POSITION, NAME, DISPLAY_NAME, DESCRIPTION, MODULE, PATH, STANDALONE, MORE],
    ),
    inventory(
        "files",
        "A row of `files-manifest.csv`.",
        &[
            POSITION,
            text("type", "Ending of the file's name"),
            NAME,
            MODULE,
            PATH,
            text("hash", "SHA-256 of the file's bytes, in hexadecimal digits"),
            MORE,
        ],
    ),
];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Catalogue {
    pub(crate) table: &'static str,
    pub(crate) path: &'static str,
}

impl Catalogue {
    pub(crate) const ALL: [Self; 6] = [
        Self { table: "agents", path: ".stepmark/manifests/agent-manifest.csv" },
        Self { table: "workflows", path: ".stepmark/manifests/workflow-manifest.csv" },
        Self { table: "skills", path: ".stepmark/manifests/skill-manifest.csv" },
        Self { table: "tasks", path: ".stepmark/manifests/task-manifest.csv" },
        Self { table: "tools", path: ".stepmark/manifests/tool-manifest.csv" },
        Self { table: "files", path: ".stepmark/manifests/files-manifest.csv" },
    ];
}

/// The catalogue's rows, in order. Columns go by the header, in any order; unknown ones go into `more`; short
/// records lack their last columns. Invalid UTF-8 becomes U+FFFD.
pub(crate) fn catalogue_rows(catalogue: Catalogue, bytes: &[u8]) -> Vec<Row> {
    let Some(table) = schema::table(catalogue.table) else { return Vec::new() };
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(bytes);
    // Reading from memory cannot fail, and any record length is accepted.
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

#[cfg(test)]
mod inventory_tables_tests {
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
