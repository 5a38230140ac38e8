//! `index.db`: the project's state as tables, for SQL queries.
//!
//! The database is a copy that may be deleted at any time. The inventory comes from the CSV catalogues alone
//! (frontmatter → CSV → database); the rest from artifacts, journal, checks, leases and tickets handed in.
//! This module has the tables, the rows of catalogues, and SQLite: `database` keeps the file, [`SqlQuery`]
//! only reads.

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
