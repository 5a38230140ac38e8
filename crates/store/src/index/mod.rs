//! Updating and querying `index.db`: only changes are read.
//!
//! One process updates at a time, under a lock; others wait, and readers use their snapshot. Only the parts
//! that a query needs are updated. If the file cannot be written, the database is in memory for the query.

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

/// Attempts to update the database on disk before using one in memory: it may be damaged, or changed and
/// deleted by others.
const TRIES: usize = 3;

#[derive(Clone, Debug, Default)]
pub enum Freshness {
    /// The project now; includes tickets' rows if queried.
    #[default]
    Now,
    NowWith(Brought),
    AsItIs,
}

#[derive(Clone, Debug, Default)]
pub struct Brought {
    pub tickets: Vec<TicketRow>,
    pub memories: Vec<Row>,
    pub memory_edges: Vec<Row>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexRefreshed {
    /// Total rows, if all parts were updated.
    pub rows: usize,
    pub added: usize,
    /// A changed row counts as removed and added.
    pub removed: usize,
    /// The reason for a database in memory: for instance, `.stepmark/local/cache/` is read-only.
    pub in_memory: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct QueryIndex<'w> {
    pub(crate) workspace: &'w Workspace,
}

impl Workspace {
    pub const fn index(&self) -> QueryIndex<'_> {
        QueryIndex { workspace: self }
    }
}

impl QueryIndex<'_> {
    /// `parameters` are the query's; `:now` is always set, `:session` if there is one.
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
            // Damage that the update did not touch.
            Err(error) if matches!(error.detail(), Some(QueryError::Database { source }) if is_corrupt(&source.0)) => {
                ask(Database::anew)
            }
            answer => answer,
        }
    }

    /// Updates all parts; `brought` are other crates' rows.
    pub fn refresh(&self, brought: &Brought) -> Result<IndexRefreshed, Error> {
        let (connection, refreshed) = self.refreshed_index(Parts::ALL, Some(brought), Database::on_disk)?;
        let rows = count_rows(&connection).map_err(no_database)?;
        Ok(IndexRefreshed { rows, ..refreshed })
    }

    /// The database from `open`, with `parts` updated, for reading. A damaged one is rebuilt; an unwritable
    /// one is replaced in memory.
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

    /// From then on the database is only read.
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
