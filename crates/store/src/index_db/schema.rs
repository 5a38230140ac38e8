//! Tables and views, in SQL and for people.

use crate::index_db::{Part, Parts, Table, state_tables::STATE_TABLES};
use crate::{disk::cache_database::CacheLayout, index_db::table::INVENTORY_TABLES};
use std::time::Duration;

pub(super) static LAYOUT: CacheLayout = CacheLayout {
    name: "index.db",
    meaning: 2,
    definitions,
    shadow_of: None,
    rows: "",
    page_cache: 32 * 1024,
    // `Database::shorten_log` does that.
    copied_at: 0,
    patience: Duration::from_secs(20),
};

/// Tables hidden from queries: the sources of rows.
///
/// `_state` has for each part a digest of its source. `_files` has for each folder one value
/// (`workspace/index/known_files`) with, for each configured file, its stat, if that is old enough to be
/// valid, and a digest of its rows (none without state).
const OWN_TABLES: [&str; 2] = [
    "CREATE TABLE _state (part TEXT PRIMARY KEY, stamp BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE _files (folder TEXT PRIMARY KEY, known BLOB NOT NULL) WITHOUT ROWID",
];

pub fn tables() -> impl Iterator<Item = &'static Table> {
    INVENTORY_TABLES.iter().chain(&STATE_TABLES)
}

pub(super) fn table(name: &str) -> Option<&'static Table> {
    tables().find(|table| table.name.eq_ignore_ascii_case(name))
}

pub(super) fn parts_of<'n>(names: impl IntoIterator<Item = &'n str>) -> Parts {
    names.into_iter().filter_map(|name| table(name).map(|table| table.part)).collect::<Parts>()
}

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

/// A query with a name. All may use `:now`, the present time, and `:session`, the session of whoever asks.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct NamedQuery {
    pub name: &'static str,
    pub about: &'static str,
    #[serde(skip)]
    pub defaults: &'static [(&'static str, &'static str)],
    pub sql: &'static str,
}

/// SQL: an open artifact waits by its status, `blocked`, also as `on-hold`, `waiting` or `awaiting-…`, in any
/// case.
macro_rules! waits {
    () => {
        "(replace(replace(lower(COALESCE(state, status, '')), '_', '-'), ' ', '-') IN ('blocked', 'on-hold', 'waiting')
          OR replace(replace(lower(COALESCE(state, status, '')), '_', '-'), ' ', '-') LIKE 'awaiting-%')"
    };
}

pub const NAMED_QUERIES: [NamedQuery; 10] = [
    NamedQuery {
        name: "blocked",
        about: "Open artifacts that wait: a status that means so, or open artifacts delegated from them",
        defaults: &[],
        sql: concat!(
            "SELECT path, status, state, next_step, open_children FROM open_artifacts
              WHERE ",
            waits!(),
            " OR open_children > 0 ORDER BY path"
        ),
    },
    NamedQuery {
        name: "done",
        about: "Artifacts whose work has ended, the latest first",
        defaults: &[],
        sql: "SELECT path, workflow, status, done, total, modified FROM artifacts WHERE finished
              ORDER BY modified DESC, path",
    },
    NamedQuery {
        name: "history",
        about: "What happened to an artifact, whatever its path was: `--param artifact=PATH`",
        defaults: &[],
        sql: "SELECT at, kind, actor, session, changes, reason FROM events
              WHERE artifact_key IN (SELECT key FROM artifacts WHERE path = :artifact
                                     UNION SELECT artifact_key FROM events WHERE artifact = :artifact)
                 OR artifact_key IS NULL AND artifact = :artifact
              ORDER BY at, n, id",
    },
    NamedQuery {
        name: "inventory",
        about: "Agents, workflows, skills, tasks and tools of the catalogues",
        defaults: &[],
        sql: "SELECT 'agent' AS kind, name, module, title AS description, path FROM agents
              UNION ALL SELECT 'workflow', name, module, description, path FROM workflows
              UNION ALL SELECT 'skill', name, module, description, path FROM skills
              UNION ALL SELECT 'task', name, module, description, path FROM tasks
              UNION ALL SELECT 'tool', name, module, description, path FROM tools
              ORDER BY kind, module, name",
    },
    NamedQuery {
        name: "leases",
        about: "Leases that hold now",
        defaults: &[],
        sql: "SELECT artifact, holder, session, taken_at, expires_at FROM leases
              WHERE holder IS NOT NULL AND julianday(expires_at) > julianday(:now)
                AND julianday(expires_at) <= julianday(:now) + 31 ORDER BY artifact",
    },
    NamedQuery {
        name: "next",
        about: "Open artifacts with what comes next, those that are furthest first",
        defaults: &[],
        sql: concat!(
            "SELECT path, workflow, percent, next_step, status FROM open_artifacts
              WHERE (next_step IS NOT NULL OR status IS NOT NULL) AND open_children = 0
                AND NOT ",
            waits!(),
            " ORDER BY percent DESC NULLS LAST, path"
        ),
    },
    NamedQuery {
        name: "session",
        about: "Who did what in a session: `--param session=NAME`, else the present one",
        defaults: &[],
        sql: "SELECT at, actor, kind, artifact, changes, reason FROM events WHERE session = :session ORDER BY at, n, id",
    },
    NamedQuery {
        name: "stale",
        about: "Open artifacts that were not changed for `--param days=14`",
        defaults: &[("days", "14")],
        sql: "SELECT path, status, next_step, modified,
                     CAST(julianday(:now) - julianday(modified) AS INTEGER) AS days
              FROM open_artifacts
              WHERE julianday(:now) - julianday(modified) >= CAST(:days AS REAL) ORDER BY modified, path",
    },
    NamedQuery {
        name: "tickets",
        about: "Tickets that differ from their artifacts, wait or are parked",
        defaults: &[],
        sql: "SELECT tracker, artifact, ticket, action, differs, delivery, reason FROM tickets
              WHERE action IS NOT NULL OR delivery IS NOT NULL ORDER BY tracker, artifact, marker",
    },
    NamedQuery {
        name: "wrong",
        about: "What `stepmark check` finds, the worst first, and what could not be read",
        defaults: &[],
        sql: "SELECT path, line, level, rule, message FROM
                  (SELECT path, line, level, rule, message, position,
                          CASE level WHEN 'error' THEN 1 WHEN 'warning' THEN 2 ELSE 3 END AS rank FROM findings
                   UNION ALL SELECT path, NULL, 'error', 'unreadable', reason, position, 0 FROM unreadable)
              ORDER BY rank, position",
    },
];

#[derive(Debug)]
pub struct View {
    pub name: &'static str,
    pub about: &'static str,
    /// With their meaning, in order.
    pub columns: &'static [(&'static str, &'static str)],
    pub sql: &'static str,
}

pub const VIEWS: [View; 4] = [SESSIONS, OPEN_ARTIFACTS, CHILDREN, PROBLEMS];

const SESSIONS: View = View {
    name: "sessions",
    about: "A session, as far as events tell of it.",
    columns: &[
        ("session", "Name of the session"),
        ("began_at", "When its first event happened"),
        ("last_at", "When its last event happened"),
        ("ended", "1 where an event says that it ended, else 0"),
        ("events", "How many events it has, start and end among them"),
        ("artifacts", "How many artifacts they are about"),
        ("actors", "Who took part, with `, ` between them"),
    ],
    sql: "SELECT session, MIN(at), MAX(at), MAX(kind = 'session-end'), COUNT(*), COUNT(DISTINCT artifact_key),
                 (SELECT group_concat(actor, ', ') FROM
                     (SELECT DISTINCT actor FROM events AS own WHERE own.session = events.session ORDER BY actor))
          FROM events WHERE session IS NOT NULL GROUP BY session",
};

const OPEN_ARTIFACTS: View = View {
    name: "open_artifacts",
    about: "An artifact whose work has not ended, with how many of the artifacts delegated straight from it are open.",
    columns: &[
        ("path", "As `artifacts.path`"),
        ("title", "As `artifacts.title`"),
        ("workflow", "As `artifacts.workflow`"),
        ("status", "As `artifacts.status`"),
        ("state", "As `artifacts.state`"),
        ("percent", "As `artifacts.percent`"),
        ("next_step", "As `artifacts.next_step`"),
        ("scope", "As `artifacts.scope`"),
        ("scope_rank", "As `artifacts.scope_rank`"),
        ("agent", "As `artifacts.agent`"),
        ("modified", "As `artifacts.modified`"),
        ("open_children", "How many artifacts that were delegated straight from it have not ended"),
    ],
    sql: "SELECT path, title, workflow, status, state, percent, next_step, scope, scope_rank, agent, modified,
                 (SELECT COUNT(*) FROM children WHERE children.parent = artifacts.path AND NOT children.finished)
          FROM artifacts WHERE NOT finished",
};

const CHILDREN: View = View {
    name: "children",
    about: "An artifact that work was delegated to, beside the artifact it was delegated from.",
    columns: &[
        ("parent", "Path of the artifact above; NULL where no artifact has the id that is named"),
        ("parent_id", "Id of the artifact above"),
        ("child", "Path of the artifact below"),
        ("status", "Status of the one below"),
        ("finished", "Whether the work of the one below has ended"),
    ],
    sql: "SELECT COALESCE(
                     (SELECT above.artifact FROM delegations AS above WHERE above.id = below.parent_id
                      ORDER BY above.artifact LIMIT 1),
                     (SELECT owner.path FROM artifacts AS owner WHERE owner.id = below.parent_id
                      ORDER BY owner.path LIMIT 1)),
                 below.parent_id, below.artifact, artifacts.status, artifacts.finished
          FROM delegations AS below JOIN artifacts ON artifacts.path = below.artifact
          WHERE below.parent_id IS NOT NULL",
};

const PROBLEMS: View = View {
    name: "problems",
    about: "How much is wrong with a file.",
    columns: &[
        ("path", "The file"),
        ("errors", "How many errors"),
        ("warnings", "How many warnings"),
        ("notes", "How many notes"),
    ],
    sql: "SELECT path, SUM(level = 'error'), SUM(level = 'warning'), SUM(level = 'note') FROM findings GROUP BY path",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index_db::SqlQuery;
    use rusqlite::Connection;
    use std::collections::BTreeSet;

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

    #[test]
    fn every_one_is_understood_and_its_parameters_are_known() {
        for query in &NAMED_QUERIES {
            SqlQuery::prepare(query.sql).unwrap_or_else(|error| panic!("{}: {error}", query.name));
        }
        assert!(NAMED_QUERIES.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
