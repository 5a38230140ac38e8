//! The tables and views, in SQL and for people.

use std::time::Duration;

use crate::disk::cache_database::CacheLayout;
use crate::index_db::{
    Part, Parts, Table, VIEWS, inventory_tables::INVENTORY_TABLES, state_tables::STATE_TABLES,
};

/// The database of queries, in `.stepmark/local/cache/index.db`.
pub(super) static LAYOUT: CacheLayout = CacheLayout {
    name: "index.db",
    meaning: 2,
    definitions,
    shadow_of: None,
    rows: "",
    page_cache: 32 * 1024,
    // That is done by `Database::shorten_log`.
    copied_at: 0,
    patience: Duration::from_secs(20),
};

/// Tables of which queries know nothing: what the rows of a part were made from.
///
/// `_state` holds for each part a digest of its source. `_files` holds for each folder, as one value
/// (`workspace/index/known_files`), for each configured file its stat, whether that stat is old enough to be
/// believed, and a digest of the rows that the file gave; none where it holds no state.
const OWN_TABLES: [&str; 2] = [
    "CREATE TABLE _state (part TEXT PRIMARY KEY, stamp BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE _files (folder TEXT PRIMARY KEY, known BLOB NOT NULL) WITHOUT ROWID",
];

/// All tables, the inventory first.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    INVENTORY_TABLES.iter().chain(&STATE_TABLES)
}

/// The table with this name, which SQL takes in any case.
pub(super) fn table(name: &str) -> Option<&'static Table> {
    tables().find(|table| table.name.eq_ignore_ascii_case(name))
}

/// The parts that `names` of tables belong to.
pub(super) fn parts_of<'n>(names: impl IntoIterator<Item = &'n str>) -> Parts {
    names.into_iter().filter_map(|name| table(name).map(|table| table.part)).collect::<Parts>()
}

/// Returns the statements that make all tables and views, empty, spelled as SQLite keeps them.
fn definitions() -> Vec<String> {
    let mut all = OWN_TABLES.map(str::to_owned).to_vec();
    for Table { name, columns, key, indices, .. } in tables() {
        let columns: Vec<String> =
            columns.iter().map(|column| format!("\"{}\" {}", column.name, column.kind.sql())).collect();
        let columns = columns.join(", ");
        all.push(format!("CREATE TABLE {name} ({columns}, PRIMARY KEY ({key})) WITHOUT ROWID"));
        all.extend(indices.iter().map(|index| format!("CREATE INDEX {name}_by_{index} ON {name} ({index})")));
    }
    for view in &VIEWS {
        let columns: Vec<&str> = view.columns.iter().map(|(name, _)| *name).collect();
        all.push(format!("CREATE VIEW {} ({}) AS {}", view.name, columns.join(", "), view.sql));
    }
    all
}

/// All tables and views for people, as Markdown.
pub fn schema_markdown() -> String {
    let mut text = String::new();
    let mut add = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    for Table { name, about, columns, part, .. } in tables() {
        let source = match part {
            Part::Inventory => "the catalogues",
            Part::Artifacts => "the artifacts",
            Part::Events => "the journal",
            Part::Findings => "the check",
            Part::Leases => "the leases",
            Part::Tickets => "the ledger of the tickets",
            Part::Systems => "the files of the systems that are switched on",
            Part::Memory => "the memory of the project",
        };
        add(format!(
            "### `{name}`\n\n{about} From {source}.\n\n| column | type | meaning |\n| --- | --- | --- |"
        ));
        for column in *columns {
            add(format!("| `{}` | {} | {} |", column.name, column.kind.sql().to_lowercase(), column.about));
        }
        add(String::new());
    }
    for view in &VIEWS {
        add(format!("### `{}` (view)\n\n{}\n\n| column | meaning |\n| --- | --- |", view.name, view.about));
        for (name, about) in view.columns {
            add(format!("| `{name}` | {about} |"));
        }
        add(String::new());
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rusqlite::Connection;

    use super::*;

    #[test]
    fn the_tables_are_made_as_they_are_described() {
        let connection = Connection::open_in_memory().unwrap();
        assert!(!LAYOUT.is_in(&connection).unwrap());
        LAYOUT.make(&connection).unwrap();
        assert!(LAYOUT.is_in(&connection).unwrap());
        let columns = |name: &str| -> Vec<String> {
            let statement = connection.prepare(&format!("SELECT * FROM {name}")).unwrap();
            statement.column_names().map(str::to_owned).collect()
        };
        for table in tables() {
            let named: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            assert_eq!(columns(table.name), named);
            assert!(table.key.split(", ").all(|key| named.contains(&key)), "{}", table.name);
        }
        for view in &VIEWS {
            let named: Vec<&str> = view.columns.iter().map(|(name, _)| *name).collect();
            assert_eq!(columns(view.name), named);
        }
        let names: BTreeSet<&str> = tables().map(|table| table.name).collect();
        assert_eq!(names.len(), tables().count(), "no name twice");
    }

    #[test]
    fn tables_are_known_in_any_case() {
        let parts = |names: &[&str]| parts_of(names.iter().copied());
        assert_eq!(parts(&["FINDINGS", "Leases", "x"]), parts(&["findings", "leases"]));
        assert!(parts(&["FINDINGS"]).contains(Part::Findings));
    }

    #[test]
    fn what_was_added_or_taken_away_is_another_definition() {
        for change in [
            "CREATE TRIGGER gone AFTER INSERT ON artifacts BEGIN DELETE FROM artifacts; END",
            "CREATE TABLE other (x)",
            "DROP VIEW problems",
            "DROP INDEX artifacts_by_status",
            "DROP VIEW problems; CREATE VIEW problems (path, errors, warnings, notes) AS SELECT 1, 2, 3, 4",
        ] {
            let connection = Connection::open_in_memory().unwrap();
            LAYOUT.make(&connection).unwrap();
            connection.execute_batch(change).unwrap();
            assert!(!LAYOUT.is_in(&connection).unwrap(), "{change}");
        }
    }
}
