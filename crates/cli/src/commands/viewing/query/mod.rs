//! `stepmark query`

mod tickets;

use std::{collections::BTreeMap, path::Path, time::Duration};

use super::list::{unasked, warn_of_unasked};
use crate::{
    environment::Environment,
    exit::{Exit, Failure},
    output::{Output, marked_place, spinner, table},
    project::Project,
};
use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;
use stepmark_store::{
    index::Freshness,
    index_db::{
        self, Answer as Found, Cell, Column, Limits, NAMED_QUERIES, NamedQuery, Part, Parts, QueryError,
        SqlQuery, Table, VIEWS, View, schema_markdown,
    },
};

pub(crate) use tickets::brought;

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

/// Of parameters.
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
        let query = SqlQuery::prepare(sql).map_err(|error| not_asked(&error, sql))?;
        let project = project()?;
        let freshness = freshness(self.no_refresh, query.parts(), &project, environment)?;
        let parameters = self.parameters(defaults, &project)?;
        let limits =
            Limits { time: Duration::from_secs(self.timeout), rows: self.limit, ..Limits::default() };
        let asked = project.workspace.index().ask(&query, &parameters, limits, &freshness);
        let found = asked.map_err(|error| match error.detail() {
            Some(query) => not_asked(query, sql),
            None => error.into(),
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

    /// With the defaults of its parameters.
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

    fn show(&self, query: &SqlQuery, found: &Found, output: &Output) -> Result<Exit, Failure> {
        if self.csv {
            output.bytes(&csv(found)?);
            return Ok(Exit::Fine);
        }
        let show = || match found.rows.is_empty() {
            true if query.parts().contains(Part::Inventory) => {
                output.remark("no rows; the catalogues are as `stepmark project` last made them");
            }
            true => output.remark("no rows"),
            false => show(found, output),
        };
        output.answer_or(|| rows(found), show);
        Ok(Exit::Fine)
    }
}

/// Rows of tickets cost as much as a plan, those of memory the whole journal at first: made only for queries
/// that use them.
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

fn not_asked(error: &QueryError, sql: &str) -> Failure {
    match error {
        QueryError::Sql { message, offset, near } => {
            let place = offset.map(|offset| format!("\n{}", marked_place("query", sql, offset)));
            let failure = Failure::new(Exit::Usage, format!("{message}{}", place.unwrap_or_default()));
            if near.is_empty() {
                failure.with_help("`stepmark query --schema` shows the tables and their columns")
            } else {
                failure.with_help(format!("did you mean {}? `--schema` shows all", near.join(", ")))
            }
        }
        QueryError::NotReading { .. } => Failure::from_error(Exit::Usage, error).with_help(
            "a query begins with SELECT, WITH or VALUES; `stepmark set` and its kin change artifacts",
        ),
        QueryError::Nothing | QueryError::Several => Failure::from_error(Exit::Usage, error),
        QueryError::Unbound { name } => {
            let key = name.trim_start_matches([':', '@', '$', '?']);
            let key = if key.is_empty() { "KEY" } else { key };
            Failure::from_error(Exit::Usage, error).with_help(format!("add `--param {key}=VALUE`"))
        }
        QueryError::Unknown { .. } => Failure::from_error(Exit::Usage, error),
        QueryError::TooLong { .. } => {
            Failure::from_error(Exit::Findings, error).with_help("give it more time with `--timeout`")
        }
        QueryError::TooMany { .. } => {
            Failure::from_error(Exit::Findings, error).with_help("allow more with `--limit`")
        }
        QueryError::TooLarge { .. } => Failure::from_error(Exit::Findings, error)
            .with_help("ask for fewer rows or columns, or for shorter values"),
        QueryError::TooMuchMemory { .. } => Failure::from_error(Exit::Findings, error)
            .with_help("sort, group or join fewer rows, or shorter values"),
        _ => Failure::from_error(Exit::Io, error),
    }
}

fn list(output: &Output) {
    output.answer(|| Answer::List { queries: NAMED_QUERIES.iter().collect() });
    let row = |query: &NamedQuery| vec![query.name.to_owned(), query.about.to_owned()];
    output.line(table(&["NAME", "ANSWERS"], NAMED_QUERIES.iter().map(row)));
}

fn schema(output: &Output) {
    output.answer(|| Answer::Schema { tables: tables(), views: views() });
    output.line(schema_markdown().trim_end());
}

fn show(answer: &Found, output: &Output) {
    let header: Vec<String> = answer.columns.iter().map(|(name, _)| name.to_uppercase()).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let row = |row: &Vec<Cell>| row.iter().map(|cell| text(cell).unwrap_or_else(|| "-".to_owned())).collect();
    output.line(table(&header, answer.rows.iter().map(row)));
    output.remark(spinner::count(answer.rows.len(), "row"));
}

/// With a header; NULL is empty.
fn csv(answer: &Found) -> Result<Vec<u8>, Failure> {
    let failed = |error: &dyn std::error::Error| Failure::from_error(Exit::Io, error);
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(answer.columns.iter().map(|(name, _)| name)).map_err(|error| failed(&error))?;
    for row in &answer.rows {
        let row = row.iter().map(|cell| text(cell).unwrap_or_default());
        writer.write_record(row).map_err(|error| failed(&error))?;
    }
    writer.into_inner().map_err(|error| failed(&error))
}

answers! { Answer<'a>
    /// `query`: columns, with the types that their tables declare, and rows as lists
    "stepmark.query/1" Rows { columns: Vec<ColumnRow<'a>>, rows: Vec<Vec<Json>> }
    /// `query --list`: the named queries
    "stepmark.query-list/1" List { queries: Vec<&'a NamedQuery> }
    /// `query --schema`: tables and columns
    "stepmark.query-schema/1" Schema { tables: Vec<TableRow<'a>>, views: Vec<TableRow<'a>> }
    struct TableRow<'a> { name: &'a str, about: &'a str, columns: Vec<ColumnRow<'a>> }
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ColumnRow<'a> {
    name: &'a str,
    /// Null where a query made it; views say none
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<&'a str>,
}

fn rows(answer: &Found) -> Answer<'_> {
    let value = |cell: &Cell| match cell {
        Cell::Null => Json::Null,
        Cell::Integer(number) => (*number).into(),
        Cell::Real(number) => (*number).into(),
        Cell::Text(text) => text.as_str().into(),
        Cell::Blob(bytes) => hexadecimal(bytes).into(),
    };
    let columns = answer.columns.iter().map(|(name, kind)| ColumnRow {
        name,
        kind: Some(kind.as_ref().map(|kind| kind.to_lowercase())),
        about: None,
    });
    let rows = answer.rows.iter().map(|row| row.iter().map(value).collect());
    Answer::Rows { columns: columns.collect(), rows: rows.collect() }
}

fn tables() -> Vec<TableRow<'static>> {
    let column = |column: &'static Column| ColumnRow {
        name: column.name,
        kind: Some(Some(column.kind.sql().to_lowercase())),
        about: Some(column.about),
    };
    let table = |table: &'static Table| TableRow {
        name: table.name,
        about: table.about,
        columns: table.columns.iter().map(column).collect(),
    };
    index_db::tables().map(table).collect()
}

fn views() -> Vec<TableRow<'static>> {
    let view = |view: &'static View| {
        let columns = view.columns.iter();
        let columns = columns.map(|(name, about)| ColumnRow { name, kind: None, about: Some(about) });
        TableRow { name: view.name, about: view.about, columns: columns.collect() }
    };
    VIEWS.iter().map(view).collect()
}

fn text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Null => None,
        Cell::Integer(number) => Some(number.to_string()),
        Cell::Real(number) => Some(decimal(*number)),
        Cell::Text(text) => Some(text.clone()),
        Cell::Blob(bytes) => Some(hexadecimal(bytes)),
    }
}

/// With an exponent if it would be too long.
fn decimal(number: f64) -> String {
    let is_short = number == 0.0 || (1e-5..1e16).contains(&number.abs());
    if is_short { number.to_string() } else { format!("{number:?}") }
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |number: u8| char::from(DIGITS[usize::from(number & 0xf)]);
    let mut text = String::with_capacity(bytes.len() * 2);
    bytes.iter().for_each(|byte| text.extend([digit(byte >> 4), digit(*byte)]));
    text
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = parts.ok_or_else(|| "KEY=VALUE is wanted".to_owned())?;
    Ok((key.to_owned(), value.to_owned()))
}

/// A number only if SQL spells it so: comparisons with numbers work, and `007` and `1.50` keep all
/// characters. SQL turns such a number into the same text for a column of text.
fn value(text: &str) -> Cell {
    if let Some(number) = text.parse::<i64>().ok().filter(|number| number.to_string() == text) {
        return Cell::Integer(number);
    }
    // `inf`, `nan` and `1e300` are words.
    let is_decimal = text.contains('.') && !text.contains('e');
    let number = text.parse::<f64>().ok().filter(|number| is_decimal && format!("{number:?}") == text);
    number.map_or_else(|| Cell::Text(text.to_owned()), Cell::Real)
}

/// The error says what is wrong with `text`.
fn check_named(key: &str, text: &str) -> Result<(), String> {
    let is_fine = match key {
        "days" => text.parse::<f64>().is_ok_and(|days| days.is_finite() && days >= 0.0),
        "now" => text.parse::<Timestamp>().is_ok(),
        _ => true,
    };
    match (is_fine, key) {
        (true, _) => Ok(()),
        (false, "days") => Err(format!("`{text}` is no number of days: write `--param days=14`")),
        (false, _) => Err(format!("`{text}` is no time: write `--param {key}=2026-01-31T12:00:00Z`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spelled_shortly_and_in_full() {
        for (cell, wanted) in [
            (Cell::Real(0.0), "0"),
            (Cell::Real(0.1), "0.1"),
            (Cell::Real(-1234.5), "-1234.5"),
            (Cell::Real(1e300), "1e300"),
            (Cell::Real(2.5e-7), "2.5e-7"),
            (Cell::Real(f64::INFINITY), "inf"),
            (Cell::Blob(vec![0x00, 0x9f, 0xff]), "009fff"),
        ] {
            assert_eq!(text(&cell).as_deref(), Some(wanted));
        }
    }

    #[test]
    fn a_number_is_what_is_spelled_as_one() {
        for number in ["0", "1", "-12", "9223372036854775807", "-9223372036854775808"] {
            assert_eq!(value(number), Cell::Integer(number.parse().unwrap()));
        }
        for number in ["0.5", "-1.25", "1.0"] {
            assert_eq!(value(number), Cell::Real(number.parse().unwrap()));
        }
        for text in [
            "",
            "007",
            "+1",
            " 1",
            "1 ",
            "-0",
            "1.50",
            ".5",
            "1.",
            "0x10",
            "1e3",
            "1.0e3",
            "inf",
            "nan",
            "NaN",
            "-",
            "9223372036854775808",
            "step-1",
            "1_000",
        ] {
            assert_eq!(value(text), Cell::Text(text.to_owned()), "{text}");
        }
    }

    #[test]
    fn questions_with_names_know_their_parameters() {
        for (key, text, is_fine) in [
            ("days", "14", true),
            ("days", "0.5", true),
            ("days", "abc", false),
            ("days", "14 days", false),
            ("days", "-1", false),
            ("days", "inf", false),
            ("now", "2026-01-31T12:00:00Z", true),
            ("now", "soon", false),
            ("artifact", "anything", true),
        ] {
            assert_eq!(check_named(key, text).is_ok(), is_fine, "{key}={text}");
        }
    }

    #[test]
    fn what_has_no_name_is_no_parameter() {
        assert_eq!(parameter("a=b=c").unwrap(), ("a".to_owned(), "b=c".to_owned()));
        assert_eq!(parameter("a=").unwrap(), ("a".to_owned(), String::new()));
        assert!(parameter("a").is_err() && parameter("=b").is_err());
    }
}
