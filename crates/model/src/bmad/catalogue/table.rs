//! The bytes of a catalogue.

use csv::{QuoteStyle, ReaderBuilder, Terminator, Writer, WriterBuilder};

use super::{CatalogueKind, Column, Entry};

/// A catalogue that was read: its columns, and its rows as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// An error of reading or writing a catalogue.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct TableError(#[from] csv::Error);

impl Table {
    /// Reads a catalogue. Quotes are doubled inside of fields; rows may be shorter or longer than the header;
    /// a byte order mark and CRLF are fine.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub fn read(bytes: &[u8]) -> Result<Self, TableError> {
        let mut reader = ReaderBuilder::new().flexible(true).from_reader(bytes);
        let texts = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
        let columns = texts(reader.headers()?);
        let rows = reader.records().map(|record| record.map(|record| texts(&record)));
        Ok(Self { columns, rows: rows.collect::<Result<_, _>>()? })
    }

    /// The names in its header.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Its rows, each with as many fields as it has.
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
///
/// # Errors
/// Never for entries, whose rows have as many fields as there are columns.
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
}
