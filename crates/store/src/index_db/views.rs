//! Views: what is asked again and again, over the tables.

/// A view.
#[derive(Debug)]
pub struct View {
    /// Its name.
    pub name: &'static str,
    /// The description of a row.
    pub about: &'static str,
    /// The columns with their meaning, in order.
    pub columns: &'static [(&'static str, &'static str)],
    /// The query behind it.
    pub sql: &'static str,
}

/// All views.
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
