//! `index.db`: the state of a project as tables, for queries in SQL.
//!
//! The database is a copy that can be deleted at any time. What it holds comes from elsewhere: the inventory
//! from the CSV catalogues and from nothing else (frontmatter → CSV → database), the state of the run from
//! artifacts, journal, checks, leases and, handed in, tickets. Here stands which tables there are, which rows
//! a catalogue gives, and the edge to SQLite: `database` keeps the file, [`SqlQuery`] asks it and can change
//! nothing.

mod table;
mod state_tables;
mod schema;
mod database;
mod contents;
mod query;

pub use database::QueryError;
pub(crate) use database::no_database;
pub use query::{Answer, Limits, SqlQuery};
pub use schema::{NAMED_QUERIES, NamedQuery, VIEWS, View, schema_markdown, tables};
pub use table::{Cell, Column, ColumnKind, Part, Parts, Row, Table};

pub(crate) use crate::disk::{CacheUnavailable as Unavailable, is_corrupt};
pub(crate) use contents::{Contents, Written, count_rows};
pub(crate) use database::{Database, was_changed};
pub(crate) use table::{Catalogue, IntoCell, add_to_digest, catalogue_rows};
