//! `index.db` brought up to date and asked: what changed since the last time is read again, and nothing else.
//!
//! One process at a time does it, under a lock; others wait, and readers go on with what was there. Only the
//! parts that a query is about are looked at. Where the file cannot be written, the database is made in
//! memory for the one query.

mod artifact_rows;
mod artifacts;
mod parts;
mod error;
mod events;
mod leases;
#[cfg(test)]
mod cases;

use std::collections::BTreeMap;

use rusqlite::Connection;

use self::error::Fault;
pub use self::parts::TicketRow;
use crate::index_db::{
    Answer, Cell, Contents, Database, Limits, Part, Parts, QueryError, Row, SqlQuery, Unavailable, Written,
    count_rows, is_corrupt, no_database, was_changed,
};
use crate::workspace::Workspace;
use crate::{Error, ErrorKind, disk::Root};

/// The number of times that the database on disk is brought up to date before one in memory is taken: it may
/// be damaged, or changed and deleted by others at the same time.
const TRIES: usize = 3;

#[derive(Clone, Debug, Default)]
pub enum Freshness {
    /// The project as it is now; with the rows of tickets, where they are asked for.
    #[default]
    Now,
    NowWith(Brought),
    AsItIs,
}

/// Rows that the caller brings: other crates know them.
#[derive(Clone, Debug, Default)]
pub struct Brought {
    pub tickets: Vec<TicketRow>,
    pub memories: Vec<Row>,
    pub memory_edges: Vec<Row>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexRefreshed {
    /// The number of rows, where all of the database was brought up to date.
    pub rows: usize,
    pub added: usize,
    /// Rows that went out; a row that changed goes out and comes in.
    pub removed: usize,
    /// The reason why it was made in memory, as where `.stepmark/local/cache/` cannot be written.
    pub in_memory: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct QueryIndex<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    /// The database of a project's artifacts, findings and history that queries ask.
    pub const fn index(&self) -> QueryIndex<'_> {
        QueryIndex { workspace: self }
    }
}

impl QueryIndex<'_> {
    /// Asks the database of the project. `parameters` are values for the parameters of the query; `:now` is
    /// known, and `:session` where there is one.
    pub fn ask(
        &self,
        query: &SqlQuery,
        parameters: &BTreeMap<String, Cell>,
        limits: Limits,
        freshness: &Freshness,
    ) -> Result<Answer, Error> {
        let mut known = BTreeMap::from([("now".to_owned(), Cell::Text(self.workspace.now().to_string()))]);
        let session = self.workspace.attribution().session.clone();
        known.extend(session.map(|session| ("session".to_owned(), Cell::Text(session.into()))));
        let brought = match freshness {
            Freshness::AsItIs => {
                let connection = Database::as_it_is(self.workspace.root()).ok_or_else(|| {
                    let message = "there is no database of this version in `.stepmark/local/cache/`";
                    Error::new(ErrorKind::Io, message)
                        .help("leave out `--no-refresh`, or run `stepmark project --index`")
                })?;
                return Ok(query.ask(connection, (parameters, &known), limits)?);
            }
            Freshness::Now => None,
            Freshness::NowWith(brought) => Some(brought),
        };
        let ask = |open: fn(&Root) -> Result<Database, Unavailable>| -> Result<Answer, Error> {
            let (connection, refreshed) = self.refreshed_index(query.parts(), brought, open)?;
            let answer = query.ask(connection, (parameters, &known), limits)?;
            Ok(Answer { in_memory: refreshed.in_memory, ..answer })
        };
        match ask(Database::on_disk) {
            // Damage that the refresh did not come past.
            Err(error) if matches!(error.detail(), Some(QueryError::Database { source }) if is_corrupt(&source.0)) => {
                ask(Database::anew)
            }
            answer => answer,
        }
    }

    /// Brings all of the database up to date; `brought` are the rows of other crates.
    pub fn refresh(&self, brought: &Brought) -> Result<IndexRefreshed, Error> {
        let (connection, refreshed) = self.refreshed_index(Parts::ALL, Some(brought), Database::on_disk)?;
        let rows = count_rows(&connection).map_err(no_database)?;
        Ok(IndexRefreshed { rows, ..refreshed })
    }

    /// The database as `open` gives it with `parts` up to date, for reading. One that turns out to be damaged
    /// is made anew; one that cannot be written, in memory.
    fn refreshed_index(
        &self,
        parts: Parts,
        brought: Option<&Brought>,
        open: impl FnOnce(&Root) -> Result<Database, Unavailable>,
    ) -> Result<(Connection, IndexRefreshed), Error> {
        let mut opened = open(self.workspace.root());
        let mut tries_left = TRIES;
        let reason = loop {
            tries_left -= 1;
            let database = match opened {
                Ok(database) => database,
                Err(error) => break error.to_string(),
            };
            match self.refresh_with(database, parts, brought) {
                Ok(refreshed) => return Ok(refreshed),
                Err(Fault::Failed(error)) => return Err(error),
                Err(Fault::Database(error)) if tries_left > 0 && is_corrupt(&error) => {
                    opened = Database::anew(self.workspace.root());
                }
                Err(Fault::Database(error)) if tries_left > 0 && was_changed(&error) => {
                    opened = Database::on_disk(self.workspace.root());
                }
                Err(Fault::Database(error)) => break error.to_string(),
            }
        };
        let database = Database::in_memory().map_err(no_database)?;
        let refreshed = self.refresh_with(database, parts, brought).map_err(|fault| match fault {
            Fault::Failed(error) => error,
            Fault::Database(error) => no_database(error),
        })?;
        Ok((refreshed.0, IndexRefreshed { in_memory: Some(reason), ..refreshed.1 }))
    }

    /// Brings `parts` up to date; from then on the database is only read.
    fn refresh_with(
        &self,
        database: Database,
        parts: Parts,
        brought: Option<&Brought>,
    ) -> Result<(Connection, IndexRefreshed), Fault> {
        let mut contents = Contents::new(database.connection());
        for part in Part::ALL.into_iter().filter(|part| parts.contains(*part)) {
            match part {
                Part::Inventory => parts::inventory(self.workspace, &mut contents)?,
                Part::Artifacts => artifacts::refresh(self.workspace, &mut contents)?,
                Part::Events => events::refresh(self.workspace, &mut contents)?,
                Part::Findings => parts::findings(self.workspace, &mut contents)?,
                Part::Leases => leases::refresh(self.workspace, &mut contents)?,
                Part::Tickets => parts::tickets(brought.map_or(&[], |own| &own.tickets), &mut contents)?,
                Part::Systems => parts::systems(self.workspace, &mut contents)?,
                Part::Memory => {
                    let brought = brought.cloned().unwrap_or_default();
                    contents.replace_named("memories", brought.memories)?;
                    contents.replace_named("memory_edges", brought.memory_edges)?;
                }
            }
        }
        let written = contents.commit()?;
        database.shorten_log()?;
        let Written { added, removed } = written;
        Ok((database.into_reading()?, IndexRefreshed { added, removed, ..IndexRefreshed::default() }))
    }
}
