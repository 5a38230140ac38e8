//! The permission of a query: to read, and nothing else.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{
    Connection,
    hooks::{AuthAction, AuthContext, Authorization},
    limits::Limit,
};

/// The longest text or blob that a query may make, in bytes.
const LONGEST: i32 = 4 * 1024 * 1024;
/// The largest number of columns in an answer.
const WIDEST: i32 = 256;

/// The tables and the refusal that were seen while a query was prepared.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(Arc<Mutex<Record>>);

#[derive(Debug, Default)]
struct Record {
    tables: Vec<String>,
    refused: Option<String>,
}

impl Seen {
    /// The tables that it reads, directly or through views.
    pub(super) fn tables(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).tables.clone()
    }

    /// Returns the operation that it would carry out and may not.
    pub(super) fn refused(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).refused.clone()
    }
}

/// From now on `connection` prepares only what reads. This stands beside a connection that is opened for
/// reading only: neither would let a query write, and this one also keeps it from other files.
pub(super) fn restrict(connection: &mut Connection) -> rusqlite::Result<Seen> {
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.set_limit(Limit::SQLITE_LIMIT_COLUMN, WIDEST)?;
    let seen = Seen::default();
    let record = Arc::clone(&seen.0);
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
        match judge(&context.action) {
            Judgement::Reads(table) => {
                if !record.tables.iter().any(|known| known == table) {
                    record.tables.push(table.to_owned());
                }
                Authorization::Allow
            }
            Judgement::Fine => Authorization::Allow,
            Judgement::Refused(what) => {
                record.refused.get_or_insert(what);
                Authorization::Deny
            }
        }
    }))?;
    Ok(seen)
}

enum Judgement<'a> {
    Reads(&'a str),
    Fine,
    Refused(String),
}

fn judge<'a>(action: &AuthAction<'a>) -> Judgement<'a> {
    match action {
        AuthAction::Read { table_name, .. } => match pragma(table_name) {
            Some(pragma) => Judgement::Refused(format!("PRAGMA {pragma}")),
            None => Judgement::Reads(table_name),
        },
        AuthAction::Select | AuthAction::Recursive => Judgement::Fine,
        AuthAction::Function { function_name } if !function_name.eq_ignore_ascii_case("load_extension") => {
            Judgement::Fine
        }
        other => Judgement::Refused(word(other)),
    }
}

/// The pragma that is asked as a table: it would be refused only when it is asked. SQLite gives the name as
/// it is written.
fn pragma(table_name: &str) -> Option<&str> {
    let (prefix, pragma) = table_name.split_at_checked("pragma_".len())?;
    prefix.eq_ignore_ascii_case("pragma_").then_some(pragma)
}

fn word(action: &AuthAction<'_>) -> String {
    match action {
        // SQLite keeps its list of tables in a table.
        AuthAction::Insert { table_name }
        | AuthAction::Update { table_name, .. }
        | AuthAction::Delete { table_name }
            if table_name.starts_with("sqlite_") =>
        {
            "changing tables".to_owned()
        }
        AuthAction::Insert { table_name } => format!("INSERT INTO {table_name}"),
        AuthAction::Update { table_name, .. } => format!("UPDATE {table_name}"),
        AuthAction::Delete { table_name } => format!("DELETE FROM {table_name}"),
        AuthAction::Attach { .. } => "ATTACH or VACUUM".to_owned(),
        AuthAction::Detach { .. } => "DETACH".to_owned(),
        AuthAction::Pragma { pragma_name, .. } => format!("PRAGMA {pragma_name}"),
        AuthAction::Function { function_name } => format!("{function_name}()"),
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => "a transaction".to_owned(),
        AuthAction::Analyze { .. } => "ANALYZE".to_owned(),
        AuthAction::Reindex { .. } => "REINDEX".to_owned(),
        _ => "changing tables".to_owned(),
    }
}
