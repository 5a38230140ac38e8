//! Queries that are asked so often that they have names.

/// A query with a name. All may use the parameters `:now`, the present time, and `:session`, the session of
/// whoever asks.
#[derive(Debug)]
pub struct NamedQuery {
    /// Its name.
    pub name: &'static str,
    /// The description of what it answers.
    pub about: &'static str,
    /// Values of its other parameters, where none is given.
    pub defaults: &'static [(&'static str, &'static str)],
    /// The query.
    pub sql: &'static str,
}

/// The SQL condition that an open artifact waits by its status: `blocked`, also as `on-hold`, `waiting` or
/// `awaiting-…`, in any case.
macro_rules! waits {
    () => {
        "(replace(replace(lower(COALESCE(state, status, '')), '_', '-'), ' ', '-') IN ('blocked', 'on-hold', 'waiting')
          OR replace(replace(lower(COALESCE(state, status, '')), '_', '-'), ' ', '-') LIKE 'awaiting-%')"
    };
}

/// All of them, in the order of their names.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index_db::SqlQuery;

    #[test]
    fn every_one_is_understood_and_its_parameters_are_known() {
        for query in &NAMED_QUERIES {
            SqlQuery::prepare(query.sql).unwrap_or_else(|error| panic!("{}: {error}", query.name));
        }
        assert!(NAMED_QUERIES.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
