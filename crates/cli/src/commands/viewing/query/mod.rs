//! `stepmark query`

mod answer;
mod tickets;

use std::{collections::BTreeMap, path::Path, time::Duration};

use clap::Args;
use stepmark_store::index::{AskError, Freshness};
use stepmark_store::index_db::{
    Answer, Cell, Limits, NAMED_QUERIES, NamedQuery, Part, Parts, QueryError, SqlQuery, schema_markdown,
};

use self::answer::{check_named, parameter, value};
pub(crate) use self::tickets::brought;
use super::list::{unasked, warn_of_unasked};
use crate::{
    environment::Environment,
    exit::{Exit, Failure},
    output::{Output, marked_place, table},
    project::Project,
};

/// Ask for artifacts, steps, sessions, findings, tickets and more in SQL
///
/// The tables are a copy in `.stepmark/local/cache/index.db`, brought up to date before every query; it can
/// be deleted at any time. A query can only read. `--schema` prints the tables, `--list` the named queries.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["sql", "named", "list", "schema"]))]
pub(crate) struct Query {
    /// The query: one statement that begins with SELECT, WITH or VALUES
    sql: Option<String>,
    /// Run a named query
    #[arg(long, value_name = "NAME")]
    named: Option<String>,
    /// List the named queries
    #[arg(long)]
    list: bool,
    /// Print all tables with their columns
    #[arg(long)]
    schema: bool,
    /// Give a parameter of the query (`:KEY`) a value
    #[arg(long, value_name = "KEY=VALUE", value_parser = parameter)]
    param: Vec<(String, String)>,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Ask the database as the last query left it
    #[arg(long)]
    no_refresh: bool,
    /// Stop the query after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    timeout: u64,
    /// Stop the query at more rows than this
    #[arg(long, value_name = "ROWS", default_value_t = 1_000_000)]
    limit: usize,
    /// End with 1 where a file could not be asked, since its frontmatter cannot be read
    #[arg(long)]
    strict: bool,
}

/// Values of parameters where none are given.
type Defaults = &'static [(&'static str, &'static str)];

impl Query {
    pub(crate) fn run(
        &self,
        project: impl FnOnce() -> Result<Project, Failure>,
        environment: &Environment,
        output: &Output,
    ) -> Result<Exit, Failure> {
        if self.list {
            list(output);
            return Ok(Exit::Fine);
        }
        if self.schema {
            schema(output);
            return Ok(Exit::Fine);
        }
        let (sql, defaults) = self.query()?;
        let query = SqlQuery::prepare(sql).map_err(|error| not_asked(error, sql))?;
        let project = project()?;
        let freshness = freshness(self.no_refresh, query.parts(), &project, environment)?;
        let parameters = self.parameters(defaults, &project)?;
        let limits =
            Limits { time: Duration::from_secs(self.timeout), rows: self.limit, ..Limits::default() };
        let asked = project.workspace.index().ask(&query, &parameters, limits, &freshness);
        let found = asked.map_err(|error| match error {
            AskError::Query(error) => not_asked(error, sql),
            AskError::Refresh(error) => error.into(),
            _ => Failure::from_error(Exit::Io, &error)
                .with_help("leave out `--no-refresh`, or run `stepmark project --index`"),
        })?;
        if let Some(reason) = &found.in_memory {
            output.warning(format_args!(
                ".stepmark/local/cache/index.db cannot be kept, and every query takes longer: {reason}"
            ));
        }
        self.show(&query, &found, output)?;
        // Without a condition all are shown.
        let is_conditional = self.strict || sql.to_lowercase().contains("where");
        if self.no_refresh || !is_conditional || !query.parts().contains(Part::Artifacts) {
            return Ok(Exit::Fine);
        }
        let mut summaries = project.workspace.checks().summaries()?;
        summaries.keep();
        let unasked = unasked(&project, &summaries.rows().collect::<Vec<_>>());
        warn_of_unasked(unasked, output);
        Ok(if self.strict && unasked > 0 { Exit::Findings } else { Exit::Fine })
    }

    /// The query, with the values that its parameters have where none are given.
    fn query(&self) -> Result<(&str, Defaults), Failure> {
        let Some(name) = &self.named else { return Ok((self.sql.as_deref().unwrap_or_default(), &[])) };
        let found = NAMED_QUERIES.iter().find(|query| query.name == name);
        let found = found.ok_or_else(|| {
            let names: Vec<&str> = NAMED_QUERIES.iter().map(|query| query.name).collect();
            Failure::new(Exit::Usage, format!("no query is called `{name}`"))
                .with_help(format!("there are: {}", names.join(", ")))
        })?;
        Ok((found.sql, found.defaults))
    }

    fn parameters(
        &self,
        defaults: &[(&str, &str)],
        project: &Project,
    ) -> Result<BTreeMap<String, Cell>, Failure> {
        let mut values: BTreeMap<String, Cell> =
            defaults.iter().map(|(key, text)| ((*key).to_owned(), value(text))).collect();
        // A path of the command line is seen from the folder that the person is in.
        let path = |name: &str| -> Result<Cell, Failure> {
            Ok(Cell::Text(project.known_path(Path::new(name))?.to_string()))
        };
        for (key, text) in &self.param {
            if self.named.is_some() {
                check_named(key, text).map_err(|error| Failure::new(Exit::Usage, error))?;
            }
            let is_path = self.named.is_some() && key == "artifact";
            let value = if is_path { path(text)? } else { value(text) };
            values.insert(key.clone(), value);
        }
        Ok(values)
    }

    fn show(&self, query: &SqlQuery, found: &Answer, output: &Output) -> Result<Exit, Failure> {
        if self.csv {
            output.bytes(&answer::csv(found)?);
            return Ok(Exit::Fine);
        }
        let show = || match found.rows.is_empty() {
            true if query.parts().contains(Part::Inventory) => {
                output.remark("no rows; the catalogues are as `stepmark project` last made them");
            }
            true => output.remark("no rows"),
            false => answer::show(found, output),
        };
        output.json_or("stepmark.query/1", || answer::json(found), show);
        Ok(Exit::Fine)
    }
}

/// The rows of tickets cost as much as a plan, and those of memory the whole journal at first: they are made
/// only for a query that is about them.
fn freshness(
    is_as_it_is: bool,
    parts: Parts,
    project: &Project,
    environment: &Environment,
) -> Result<Freshness, Failure> {
    Ok(if is_as_it_is {
        Freshness::AsItIs
    } else if parts.contains(Part::Tickets) || parts.contains(Part::Memory) {
        let is_about = |part| parts.contains(part);
        Freshness::NowWith(brought((is_about(Part::Tickets), is_about(Part::Memory)), project, environment)?)
    } else {
        Freshness::Now
    })
}

fn not_asked(error: QueryError, sql: &str) -> Failure {
    match error {
        QueryError::Sql { ref message, offset, ref near } => {
            let place = offset.map(|offset| format!("\n{}", marked_place("query", sql, offset)));
            let failure = Failure::new(Exit::Usage, format!("{message}{}", place.unwrap_or_default()));
            if near.is_empty() {
                failure.with_help("`stepmark query --schema` shows the tables and their columns")
            } else {
                failure.with_help(format!("did you mean {}? `--schema` shows all", near.join(", ")))
            }
        }
        QueryError::NotReading { .. } => Failure::from_error(Exit::Usage, &error).with_help(
            "a query begins with SELECT, WITH or VALUES; `stepmark set` and its kin change artifacts",
        ),
        QueryError::Nothing | QueryError::Several => Failure::from_error(Exit::Usage, &error),
        QueryError::Unbound { ref name } => {
            let key = name.trim_start_matches([':', '@', '$', '?']);
            let key = if key.is_empty() { "KEY" } else { key };
            Failure::from_error(Exit::Usage, &error).with_help(format!("add `--param {key}=VALUE`"))
        }
        QueryError::Unknown { .. } => Failure::from_error(Exit::Usage, &error),
        QueryError::TooLong { .. } => {
            Failure::from_error(Exit::Findings, &error).with_help("give it more time with `--timeout`")
        }
        QueryError::TooMany { .. } => {
            Failure::from_error(Exit::Findings, &error).with_help("allow more with `--limit`")
        }
        QueryError::TooLarge { .. } => Failure::from_error(Exit::Findings, &error)
            .with_help("ask for fewer rows or columns, or for shorter values"),
        QueryError::TooMuchMemory { .. } => Failure::from_error(Exit::Findings, &error)
            .with_help("sort, group or join fewer rows, or shorter values"),
        _ => Failure::from_error(Exit::Io, &error),
    }
}

fn list(output: &Output) {
    output.json_or(
        "stepmark.query-list/1",
        || {
            let wire = |query: &NamedQuery| {
                serde_json::json!({"name": query.name, "about": query.about, "sql": query.sql})
            };
            serde_json::json!({"queries": NAMED_QUERIES.iter().map(wire).collect::<Vec<_>>()})
        },
        || {
            let row = |query: &NamedQuery| vec![query.name.to_owned(), query.about.to_owned()];
            output.line(table(&["NAME", "ANSWERS"], NAMED_QUERIES.iter().map(row)));
        },
    );
}

fn schema(output: &Output) {
    output.json_or(
        "stepmark.query-schema/1",
        || serde_json::json!({"tables": answer::tables(), "views": answer::views()}),
        || output.line(schema_markdown().trim_end()),
    );
}
