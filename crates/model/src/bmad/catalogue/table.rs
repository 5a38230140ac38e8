//! The bytes of a catalogue.

use super::{CatalogueKind, Column, Entry};
use crate::artifact::ProjectPath;
use csv::{QuoteStyle, ReaderBuilder, Terminator, Writer, WriterBuilder};
use std::{cmp::Ordering, collections::HashMap};
use stepmark_frontmatter::ParseError;

/// A catalogue that was read: its columns, and its rows as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct TableError(#[from] csv::Error);

impl Table {
    /// Reads a catalogue. Quotes are doubled inside of fields; rows may be shorter or longer than the header;
    /// a byte order mark and CRLF are fine.
    pub fn read(bytes: &[u8]) -> Result<Self, TableError> {
        let mut reader = ReaderBuilder::new().flexible(true).from_reader(bytes);
        let texts = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
        let columns = texts(reader.headers()?);
        let rows = reader.records().map(|record| record.map(|record| texts(&record)));
        Ok(Self { columns, rows: rows.collect::<Result<_, _>>()? })
    }

    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// The fields of each row in the given column; empty where a row is too short or there is no such column.
    pub fn fields(&self, column: Column) -> impl Iterator<Item = &str> {
        let place = self.columns.iter().position(|name| name == column.name());
        self.rows.iter().map(move |row| {
            let field = place.and_then(|place| row.get(place));
            field.map_or("", String::as_str)
        })
    }

    /// Returns whether its header is one of a catalogue: every release has these columns.
    pub fn is_catalogue(&self) -> bool {
        let has = |column: Column| self.columns.iter().any(|name| name == column.name());
        has(Column::Name) && has(Column::Module) && has(Column::Path)
    }

    /// The columns that a catalogue of this kind is written in: those of the installer's, where it is one,
    /// else those of the newest release.
    pub fn columns_for(installers: Option<&Self>, kind: CatalogueKind) -> Vec<String> {
        match installers.filter(|table| table.is_catalogue()) {
            Some(table) => table.columns.clone(),
            None => kind.newest_columns().iter().map(|column| (*column).to_owned()).collect(),
        }
    }
}

/// The bytes of a catalogue with these columns, as the official installer writes them: the header bare, every
/// field quoted, quotes doubled, LF after each row.
pub fn write(columns: &[String], entries: &[Entry]) -> Result<Vec<u8>, TableError> {
    let mut header = writer(QuoteStyle::Necessary, Vec::new());
    header.write_record(columns)?;
    let mut rows = writer(QuoteStyle::Always, into_bytes(header)?);
    for entry in entries {
        rows.write_record(entry.row(columns))?;
    }
    into_bytes(rows)
}

fn writer(quotes: QuoteStyle, bytes: Vec<u8>) -> Writer<Vec<u8>> {
    WriterBuilder::new().quote_style(quotes).terminator(Terminator::Any(b'\n')).from_writer(bytes)
}

fn into_bytes(writer: Writer<Vec<u8>>) -> Result<Vec<u8>, TableError> {
    writer.into_inner().map_err(|error| TableError(csv::Error::from(error.into_error())))
}

/// The modules in the order of the catalogues: `core`, then as the installer's book names them, then folders
/// that it does not name, by name. Only `folders`, the folders that are there, can have entries, but skills
/// may have left theirs.
pub fn module_order(named: &[String], folders: &[String]) -> Vec<String> {
    let mut folders = folders.to_vec();
    folders.sort_unstable();
    let mut modules: Vec<String> = Vec::new();
    for module in std::iter::once("core").chain(named.iter().chain(&folders).map(String::as_str)) {
        if !modules.iter().any(|known| known == module) {
            modules.push(module.to_owned());
        }
    }
    modules
}

/// Sorts entries by module, what belongs to none of `modules` last, and within one by path: folder by folder,
/// names in the order of their bytes, as Node lists them.
pub fn in_walk_order(mut entries: Vec<Entry>, modules: &[String]) -> Vec<Entry> {
    let rank = |entry: &Entry| {
        let module = entry.get(Column::Module);
        modules.iter().position(|known| known == module).unwrap_or(modules.len())
    };
    entries.sort_by(|one, other| {
        rank(one)
            .cmp(&rank(other))
            .then_with(|| one.get(Column::Module).cmp(other.get(Column::Module)))
            .then_with(|| compare_paths(one.get(Column::Path), other.get(Column::Path)))
    });
    entries
}

/// `a/z` before `a-b/c`: a folder is compared as a whole, not by what follows its name.
fn compare_paths(one: &str, other: &str) -> Ordering {
    one.split('/').cmp(other.split('/'))
}

/// The entries without those whose module and name came before: the later value stands at the earlier place.
pub fn distinct(entries: Vec<Entry>) -> Vec<Entry> {
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    let mut distinct: Vec<Entry> = Vec::new();
    for entry in entries {
        let key = (entry.get(Column::Module).to_owned(), entry.get(Column::Name).to_owned());
        match places.get(&key) {
            Some(place) => distinct[*place] = entry,
            None => {
                places.insert(key, distinct.len());
                distinct.push(entry);
            }
        }
    }
    distinct
}

/// A file that should be in a catalogue and cannot be read as it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}{}: {kind}", self.place())]
pub struct EntryProblem {
    pub path: ProjectPath,
    pub line: Option<usize>,
    pub kind: EntryProblemKind,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryProblemKind {
    #[error("its frontmatter cannot be read, so no catalogue can say what it is: {0}")]
    Frontmatter(ParseError),
    #[error("its frontmatter has no closing `---`, so no catalogue can say what it is")]
    Unclosed,
    #[error("it does not begin with frontmatter, so it is no skill: write `name` and `description` there")]
    NoFrontmatter,
    #[error("its frontmatter has no `{key}` with text, so it is no skill")]
    KeyMissing { key: &'static str },
    #[error(
        "its `name` is `{name}` and its folder is called `{folder}`: agents find it only if both are the same"
    )]
    NameDiffers { name: String, folder: String },
    #[error("it cannot be read: {reason}")]
    Unreadable { reason: String },
    #[error("the name `{name}` in it is not UTF-8, so no catalogue can hold it")]
    NameNotUtf8 {
        /// The name, with replacement characters.
        name: String,
    },
    /// A catalogue or book of the installer cannot be read; it is as if it were not there.
    #[error(
        "the installer's file cannot be read, so columns, modules and their order are taken from the folders: {reason}"
    )]
    InstallersBook { reason: String },
}

impl EntryProblem {
    pub fn of_file(path: &ProjectPath, kind: EntryProblemKind) -> Self {
        Self { path: path.clone(), line: None, kind }
    }

    fn place(&self) -> String {
        self.line.map(|line| format!(":{line}")).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_bare_and_every_field_quoted() {
        let columns = ["name", "odd, one", "path"].map(str::to_owned);
        let entries = [
            Entry::default().with(Column::Name, "say \"so\", friend").with(Column::Path, "a b/ü.md"),
            Entry::default(),
        ];
        let text = String::from_utf8(write(&columns, &entries).unwrap()).unwrap();
        assert_eq!(
            text,
            "name,\"odd, one\",path\n\"say \"\"so\"\", friend\",\"\",\"a b/ü.md\"\n\"\",\"\",\"\"\n"
        );
        assert_eq!(write(&columns[..1], &[]).unwrap(), b"name\n");
    }

    #[test]
    fn columns_are_read_by_their_header() {
        let table =
            Table::read(b"\xEF\xBB\xBFmodule,install,path,name\r\n\"m\",\"x\",\"p\",\"n\"\r\nonly\r\n")
                .unwrap();
        assert!(table.is_catalogue());
        assert_eq!(table.fields(Column::Name).collect::<Vec<_>>(), ["n", ""]);
        assert_eq!(table.fields(Column::Icon).collect::<Vec<_>>(), ["", ""]);
        assert_eq!(Table::columns_for(Some(&table), CatalogueKind::Tool), table.columns());
        for other in [&b""[..], b"type,name,hash\n", b"no table at all"] {
            let table = Table::read(other).unwrap();
            assert_eq!(Table::columns_for(Some(&table), CatalogueKind::Skill)[0], "canonicalId");
        }
        assert!(Table::read(b"name,module,path\n\xFF,a,b\n").is_err());
    }

    fn entry(module: &str, name: &str, path: &str) -> Entry {
        Entry::default().with(Column::Module, module).with(Column::Name, name).with(Column::Path, path)
    }

    fn paths(entries: &[Entry]) -> Vec<&str> {
        entries.iter().map(|entry| entry.get(Column::Path)).collect()
    }

    #[test]
    fn core_comes_first_then_the_installers_order_then_folders() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let order = module_order(&names(&["tea", "core", "bmm"]), &names(&["zoo", "bmm", "art"]));
        assert_eq!(order, ["core", "tea", "bmm", "art", "zoo"]);
        assert_eq!(module_order(&[], &[]), ["core"]);
    }

    #[test]
    fn entries_stand_as_a_walk_comes_past_them() {
        let modules = ["core".to_owned(), "bmm".to_owned()];
        let entries = ["bmm/b", "bmm/a-b/c", "bmm/a/z", "bmm/B", "zoo/x", "core/z", "ant/x"]
            .map(|path| entry(path.split('/').next().unwrap(), path, path));
        assert_eq!(
            paths(&in_walk_order(entries.to_vec(), &modules)),
            ["core/z", "bmm/B", "bmm/a/z", "bmm/a-b/c", "bmm/b", "ant/x", "zoo/x"]
        );
    }

    #[test]
    fn of_two_with_one_name_the_later_stands_at_the_earlier_place() {
        let entries =
            vec![entry("m", "x", "1"), entry("m", "y", "2"), entry("m", "x", "3"), entry("n", "x", "4")];
        assert_eq!(paths(&distinct(entries)), ["3", "2", "4"]);
    }
}
