//! `stepmark list`

use std::collections::BTreeSet;

use clap::Args;
use serde_json::{Map, Value as Json};
use stepmark_model::{
    artifact::natural_order,
    selection::{FieldValue, Selectable, Selection, SelectionError, SelectionField, SortKeys, parse_fields},
    summary::Condition,
};
use stepmark_store::{
    checking::{Summaries, SummaryRow},
    disk::par_map,
    workspace::Artifacts,
};

use crate::{
    exit::{Exit, Failure},
    output::{Output, long_table, question_report, spinner, with_spinner},
    project::Project,
};

/// Shown by default.
const USUAL_COLUMNS: [SelectionField; 6] = [
    SelectionField::Path,
    SelectionField::Workflow,
    SelectionField::Status,
    SelectionField::Scope,
    SelectionField::Progress,
    SelectionField::Next,
];

/// List the artifacts that match a filter
///
/// A filter compares fields: `status=blocked and scope>=large`, `path~epic and not (progress=100 or next is
/// empty)`, `status in (review, done)`, `modified>=2026-01-31`. Fields are path, id, title, workflow, status,
/// scope, work_state, done, total, progress, next, agent, parent, problems, modified and updated, or any key
/// of frontmatter (`phase=22.10`), whose values are texts. A status is understood by its artifact's
/// lifecycle, so that synonyms are one and `status<review` compares how far the work is.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only artifacts that match this filter
    #[arg(long = "where", value_name = "FILTER")]
    filter: Option<String>,
    /// Only artifacts that wait for a person
    #[arg(long)]
    waiting: bool,
    /// Fields to sort by, the greatest first with `-`: `-scope,path`
    #[arg(long, value_name = "FIELDS", allow_hyphen_values = true)]
    sort: Option<String>,
    /// Fields to show, with commas between them; with --json all, where this is not said
    #[arg(long, visible_alias = "fields", value_name = "FIELDS")]
    columns: Option<String>,
    /// Show at most this many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// End with 1 where a file could not be asked, since its frontmatter cannot be read
    #[arg(long)]
    strict: bool,
}

impl List {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let (workspace, asked) = (&project.workspace, self.asked(&[]));
        let mut summaries =
            with_spinner("reading artifacts", output.quiet, workspace.files_looked_at(), || match &asked {
                Ok(_) => workspace.checks().summaries(),
                // A name may be that of a key, and keys stand in the files alone.
                Err(_) => workspace.checks().summaries_of_all_read(),
            })?;
        let Asked { selection, sort, columns } = asked.or_else(|_| self.asked(&keys(&summaries)))?;
        let is_asked = |fields: &[SelectionField]| fields.contains(&SelectionField::Problems);
        let needs_check =
            is_asked(columns.as_deref().unwrap_or(if output.json { &SelectionField::ALL } else { &[] }))
                || sort.0.iter().any(|key| key.field == SelectionField::Problems)
                || selection.as_ref().is_some_and(|selection| selection.mentions(SelectionField::Problems));
        if needs_check {
            summaries.check()?;
        } else {
            summaries.keep();
        }
        let mut rows: Vec<SummaryRow<'_>> = summaries.rows().collect();
        let unasked = unasked(project, &rows);
        if let Some(selection) = &selection {
            let mut matches = par_map(&rows, |row| selection.matches(&row.listed())).into_iter();
            rows.retain(|_| matches.next().unwrap_or(true));
        }
        rows.retain(|row| !self.waiting || row.brief().condition == Condition::Waiting);
        rows.sort_by(|one, other| natural_order(one.path().as_str(), other.path().as_str()));
        let mut rows = sort.sort(rows);
        let total = rows.len();
        rows.truncate(self.limit.map_or(usize::MAX, |limit| limit as usize));
        if output.json {
            let shown = columns.as_deref().unwrap_or(&SelectionField::ALL);
            print_json(output, (summaries.found(), unasked), (&rows, total), shown);
        } else {
            print_table(output, &rows, &columns.unwrap_or_else(|| usual_columns(&rows)));
            if total > rows.len() {
                output.remark(format_args!("and {} more", total - rows.len()));
            }
        }
        let found = summaries.found();
        spinner::unreadable(found).iter().for_each(|problem| output.warning(problem));
        // Without a filter they are shown.
        if self.strict || selection.is_some() {
            warn_of_unasked(unasked, output);
        }
        let exit = if self.strict && unasked > 0 { Exit::Findings } else { Exit::Fine };
        let is_whole = found.is_whole();
        // The program ends here: giving the texts of many artifacts back one by one is time for nothing.
        std::mem::forget(summaries);
        Ok(if is_whole { exit } else { Exit::Io })
    }
}

struct Asked {
    selection: Option<Selection>,
    sort: SortKeys,
    columns: Option<Vec<SelectionField>>,
}

impl List {
    fn asked(&self, keys: &[&'static str]) -> Result<Asked, Failure> {
        Ok(Asked {
            selection: read("--where", self.filter.as_deref(), |text| Selection::parse(text, keys))?,
            sort: read("--sort", self.sort.as_deref(), |text| SortKeys::parse(text, keys))?
                .unwrap_or_default(),
            columns: read("--columns", self.columns.as_deref(), |text| parse_fields(text, keys))?,
        })
    }
}

/// Kept until the program ends.
fn keys(summaries: &Summaries<'_>) -> Vec<&'static str> {
    let keys = par_map(&summaries.found().artifacts, |tracked| {
        let yaml = tracked.artifact().state_yaml();
        let entries = yaml.as_ref().and_then(|yaml| Some(yaml.root()?.entries())).unwrap_or_default();
        entries.iter().filter_map(|entry| entry.key.as_key().map(str::to_owned)).collect::<Vec<_>>()
    });
    let keys: BTreeSet<String> = keys.into_iter().flatten().collect();
    keys.into_iter().map(|key| &*key.leak()).collect()
}

pub(super) fn unasked(project: &Project, rows: &[SummaryRow<'_>]) -> usize {
    let is_unasked = |row: &SummaryRow<'_>| {
        // Few are of unknown condition, so few are read again.
        row.brief().condition == Condition::Unknown
            && project.workspace.artifact(row.path()).is_ok_and(|artifact| !artifact.artifact().is_readable())
    };
    par_map(rows, is_unasked).into_iter().filter(|is_unasked| *is_unasked).count()
}

pub(super) fn warn_of_unasked(count: usize, output: &Output) {
    if count > 0 {
        let files = spinner::count(count, "file");
        output.warning(format_args!("{files} could not be asked: `stepmark check` shows what is wrong"));
    }
}

/// With titles if there are records, whose paths say little.
fn usual_columns(rows: &[SummaryRow<'_>]) -> Vec<SelectionField> {
    let mut columns = USUAL_COLUMNS.to_vec();
    let has_title = |row: &SummaryRow<'_>| {
        row.ticket_order().is_some() || row.brief().kind.is_some_and(|kind| kind.title.is_some())
    };
    if par_map(rows, has_title).contains(&true) {
        columns.insert(1, SelectionField::Title);
    }
    columns
}

fn read<T>(
    option: &str,
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, SelectionError>,
) -> Result<Option<T>, Failure> {
    text.map(|text| {
        parse(text).map_err(|error| {
            let mut failure = Failure::new(Exit::Usage, format!("cannot read {option}: {error}"));
            failure.help = error.help();
            failure.with_report(question_report(option, text, &error))
        })
    })
    .transpose()
}

fn print_table(output: &Output, rows: &[SummaryRow<'_>], columns: &[SelectionField]) {
    if rows.is_empty() {
        output.remark("no artifact");
        return;
    }
    let header: Vec<String> = columns.iter().map(|field| field.name().to_uppercase()).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let cell = |value: FieldValue, field: SelectionField| match value {
        FieldValue::Empty => "-".to_owned(),
        FieldValue::Text(text) => text,
        value if field == SelectionField::Progress => format!("{value}%"),
        value => value.to_string(),
    };
    // Cells hold no control characters, and are as wide as the terminal allows.
    output.styled_line(long_table(&header, rows, |row| {
        let listed = row.listed();
        columns.iter().map(|field| cell(listed.value(*field), *field)).collect()
    }));
}

answers! { Answer
    /// `list`: the artifacts that a filter matches, with the fields asked for
    "stepmark.list/2" List {
        artifacts: Vec<Map<String, Json>>, total: usize,
        /// The number of artifacts whose frontmatter cannot be read
        unasked: usize,
        unreadable: Vec<String>,
    }
}

fn print_json(
    output: &Output,
    (found, unasked): (&Artifacts, usize),
    (rows, total): (&[SummaryRow<'_>], usize),
    columns: &[SelectionField],
) {
    let object = |row: &SummaryRow<'_>| {
        let listed = row.listed();
        columns.iter().map(|field| (field.name().to_owned(), listed.value(*field).to_json())).collect()
    };
    let artifacts = rows.iter().map(object).collect();
    let unreadable = spinner::unreadable(found);
    output.answer(|| Answer::List { artifacts, total, unasked, unreadable });
}
