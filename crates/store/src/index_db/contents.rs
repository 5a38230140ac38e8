//! Adding and removing rows in a refresh's transaction.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params_from_iter};

use crate::index_db::table::{Cell, add_to_digest};
use crate::index_db::{Part, Row, Table, schema};
use stepmark_model::artifact::FileHash;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// The first change begins a transaction; without one nothing is written.
#[derive(Debug)]
pub(crate) struct Contents<'db> {
    connection: &'db Connection,
    is_begun: bool,
    pub(crate) written: Written,
    inserts: HashMap<&'static str, String>,
}

impl<'db> Contents<'db> {
    pub(crate) fn new(connection: &'db Connection) -> Self {
        Self { connection, is_begun: false, written: Written::default(), inserts: HashMap::new() }
    }

    pub(crate) const fn connection(&self) -> &'db Connection {
        self.connection
    }

    fn begin(&mut self) -> rusqlite::Result<()> {
        if !self.is_begun {
            self.connection.execute_batch("BEGIN IMMEDIATE")?;
            self.is_begun = true;
        }
        Ok(())
    }

    pub(crate) fn commit(mut self) -> rusqlite::Result<Written> {
        if self.is_begun {
            self.connection.execute_batch("COMMIT")?;
            self.is_begun = false;
        }
        Ok(self.written)
    }

    pub(crate) fn has(&self, sql: &str) -> rusqlite::Result<bool> {
        self.connection.prepare_cached(sql)?.exists([])
    }

    pub(crate) fn change(&mut self, sql: &str, parameters: impl rusqlite::Params) -> rusqlite::Result<usize> {
        self.begin()?;
        self.connection.prepare_cached(sql)?.execute(parameters)
    }

    pub(crate) fn insert(&mut self, table: &'static str, row: Row) -> rusqlite::Result<()> {
        self.begin()?;
        let sql = self.inserts.entry(table).or_insert_with(|| {
            let places = vec!["?"; row.len()].join(", ");
            format!("INSERT INTO {table} VALUES ({places})")
        });
        self.connection.prepare_cached(sql)?.execute(params_from_iter(row))?;
        self.written.added += 1;
        Ok(())
    }

    pub(crate) fn remove(&mut self, table: &str, column: &str, of: &str) -> rusqlite::Result<()> {
        let removed = self.change(&format!("DELETE FROM {table} WHERE {column} = ?"), [of])?;
        self.written.removed += removed;
        Ok(())
    }

    pub(crate) fn clear(&mut self, table: &str) -> rusqlite::Result<()> {
        let removed = self.change(&format!("DELETE FROM {table}"), [])?;
        self.written.removed += removed;
        Ok(())
    }

    /// Writes nothing if the rows are those of the last call.
    pub(crate) fn replace(&mut self, table: &'static Table, rows: Vec<Row>) -> rusqlite::Result<()> {
        let mut text = Vec::new();
        rows.iter().for_each(|row| add_to_digest(row, &mut text));
        let (name, stamp) = (format!("table {}", table.name), FileHash::of(&text));
        if self.stamp_named(&name)? == Some(stamp) {
            return Ok(());
        }
        self.clear(table.name)?;
        rows.into_iter().try_for_each(|row| self.insert(table.name, row))?;
        self.set_stamp_named(&name, stamp)
    }

    pub(crate) fn replace_named(&mut self, name: &str, rows: Vec<Row>) -> rusqlite::Result<()> {
        schema::table(name).map_or(Ok(()), |table| self.replace(table, rows))
    }

    /// The digest of a part's source; `None` if it was never read, or must be checked again.
    pub(crate) fn stamp(&self, part: Part) -> rusqlite::Result<Option<FileHash>> {
        self.stamp_named(part.name())
    }

    pub(crate) fn set_stamp(&mut self, part: Part, stamp: Option<FileHash>) -> rusqlite::Result<()> {
        if self.stamp(part)? == stamp {
            return Ok(());
        }
        match stamp {
            Some(stamp) => self.set_stamp_named(part.name(), stamp),
            None => self.change("DELETE FROM _state WHERE part = ?", [part.name()]).map(drop),
        }
    }

    fn stamp_named(&self, name: &str) -> rusqlite::Result<Option<FileHash>> {
        let mut statement = self.connection.prepare_cached("SELECT stamp FROM _state WHERE part = ?")?;
        let stamp = statement.query_row([name], |row| row.get(0)).optional()?;
        Ok(stamp.map(FileHash::from_digest))
    }

    fn set_stamp_named(&mut self, name: &str, stamp: FileHash) -> rusqlite::Result<()> {
        let stamp = Cell::Blob(stamp.as_bytes().to_vec());
        self.change("INSERT OR REPLACE INTO _state VALUES (?, ?)", (name, stamp)).map(drop)
    }
}

pub(crate) fn count_rows(connection: &Connection) -> rusqlite::Result<usize> {
    let count = |table: &Table| {
        let sql = format!("SELECT COUNT(*) FROM {}", table.name);
        connection.query_row(&sql, [], |row| row.get::<_, usize>(0))
    };
    schema::tables().map(count).sum()
}

impl Drop for Contents<'_> {
    fn drop(&mut self) {
        if self.is_begun {
            // Uncommitted changes are rolled back, at the latest on closing.
            let _closing_does_it = self.connection.execute_batch("ROLLBACK");
        }
    }
}
