//! `stepmark status`

use crate::{
    exit::{Exit, Failure, chain},
    output::{
        ListArguments, Output, Row as Kept, fitted, on_one_line, spinner, width, wire::ArtifactWire,
        with_spinner,
    },
    project::Project,
};
use clap::Args;
use stepmark_model::{
    artifact::{ProjectPath, natural_order},
    check::ProblemCounts,
    summary::{Condition, EpicTitles},
};
use stepmark_store::{
    bmad::sprint::SprintLedger,
    checking::{Brief, SummaryRow},
    disk::par_map,
    workspace::Artifacts,
};
use stepmark_view::{
    observation::Entry,
    overview::{EntryGroup, GroupMember, entry_groups, parent_path, short_names, unwritten_stories},
};

/// Two screens.
const USUAL_LIMIT: usize = 50;

/// Show what is done, what comes next and what is wrong
///
/// Artifacts are grouped by epic and workflow; without --limit and --json 50, and what is finished is left
/// out first. An artifact counts where it carries workflow state; a file of which a status is all, such as a
/// post of a blog, is shown with --all only. Its name here is what other commands take for it. `stepmark
/// list` selects and sorts, and shows whole paths.
#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    list: ListArguments,
    /// Show all artifacts, and files of which a status is all
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

type BriefRow<'s> = (SummaryRow<'s>, Brief<'s>);

type Beside = Vec<(ProjectPath, ProblemCounts)>;

impl Status {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let mut summaries =
            with_spinner("reading artifacts", output.quiet, project.workspace.files_looked_at(), || {
                project.workspace.checks().summaries()
            })?;
        let mut is_checked = true;
        let mut beside = Beside::new();
        match summaries.check() {
            Ok(files) => beside = files,
            Err(error) => {
                output.warning(format_args!(
                    "only what is wrong with each artifact by itself is counted: {}",
                    chain(&error)
                ));
                is_checked = false;
                summaries = project.workspace.checks().summaries_of_all_read()?;
            }
        }
        let all: Vec<SummaryRow<'_>> = summaries.rows().collect();
        let briefs = par_map(&all, SummaryRow::brief);
        let waiting = briefs.iter().filter(|brief| brief.waits_for_import).count();
        let counted = all.iter().copied().zip(briefs);
        let (mut rows, mut others): (Vec<BriefRow<'_>>, Vec<BriefRow<'_>>) =
            counted.partition(|(_, brief)| brief.has_workflow_state || self.all);
        // Records without work are no files with only a `status`.
        others.retain(|(_, brief)| brief.kind.is_none());
        rows.sort_by(|(one, _), (other, _)| natural_order(one.path().as_str(), other.path().as_str()));
        let found = summaries.found();
        let ledgers = project.workspace.ledgers().all(all.iter().map(SummaryRow::path)).ledgers;
        if output.json {
            let answer = self.answer(project, (found, &ledgers), &rows, others.len(), &beside)?;
            output.answer(|| answer);
        } else if rows.is_empty() {
            output.remark(format_args!(
                "no artifact with workflow state among {} Markdown files of {}",
                found.files,
                project.root().path().display()
            ));
            output.remark(project.beginning());
        } else {
            let limit = self.list.limit().unwrap_or(USUAL_LIMIT);
            let limit = if self.all { usize::MAX } else { limit };
            let stories = all.iter().filter_map(|row| Some((row.path(), row.story()?)));
            let unwritten = unwritten_stories(stories, &ledgers);
            lines(&rows, (&epic_titles(&all), &unwritten), limit).iter().for_each(|line| output.line(line));
            for SprintLedger { path, states } in &ledgers {
                if !states.open_actions.is_empty() {
                    let items = spinner::count(states.open_actions.len(), "open action item");
                    output.remark(format_args!("{items} of retrospectives in {path}"));
                }
            }
        }
        if !output.json && !others.is_empty() {
            let files = spinner::count(others.len(), "file");
            let is_wrong = |(_, brief): &&BriefRow<'_>| brief.problems.problems() > 0;
            let wrong = match others.iter().filter(is_wrong).count() {
                0 => String::new(),
                wrong => format!(" ({wrong} with problems)"),
            };
            output.remark(format_args!("{files} with nothing but a status{wrong}: `stepmark status --all`"));
        }
        say_beside(found, waiting, &beside, output);
        Ok(if found.is_whole() && is_checked { Exit::Fine } else { Exit::Io })
    }

    fn answer<'b>(
        &self,
        project: &Project,
        (found, ledgers): (&Artifacts, &[SprintLedger]),
        rows: &[BriefRow<'_>],
        others: usize,
        beside: &'b Beside,
    ) -> Result<Answer<'b>, Failure> {
        let briefs = rows.iter().map(|(_, brief)| brief);
        let mut shown = chosen(briefs, self.list.limit().unwrap_or(usize::MAX));
        shown.sort_unstable();
        let artifact = |place: &usize| {
            let (row, brief) = &rows[*place];
            let summary = row.summary();
            // As the table shows it.
            let title = summary.title.or(summary.heading.as_deref()).map(str::to_owned);
            ArtifactWire::new(&summary, brief.problems).titled(title)
        };
        Ok(Answer::Status {
            root: project.root().path().display().to_string(),
            files: found.files,
            total: rows.len(),
            status_only: others,
            artifacts: self.list.keep_fields(shown.iter().map(artifact))?,
            other_files: beside.iter().map(|(path, problems)| FileRow { path, problems }).collect(),
            unreadable: spinner::unreadable(found),
            open_action_items: ledgers.iter().flat_map(|ledger| ledger.states.open_actions.clone()).collect(),
        })
    }
}

answers! { Answer<'a>
    /// `status`: artifacts, and what is wrong in each
    "stepmark.status/2" Status {
        root: String, files: usize, total: usize, status_only: usize, artifacts: Vec<Kept<ArtifactWire>>,
        other_files: Vec<FileRow<'a>>, unreadable: Vec<String>,
        /// Open action items of retrospectives, by id
        #[serde(skip_serializing_if = "Vec::is_empty")] open_action_items: Vec<String>,
    }
    struct FileRow<'a> { path: &'a ProjectPath, problems: &'a ProblemCounts }
}

/// Waiting stories, problems in files `beside`, unreadable files.
/// not be read.
fn say_beside(found: &Artifacts, waiting: usize, beside: &Beside, output: &Output) {
    for (path, counts) in beside.iter().filter(|(_, counts)| counts.problems() > 0) {
        let counts = [(counts.errors, "error"), (counts.warnings, "warning")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, word)| spinner::count(*count, word)).collect();
        output.warning(format_args!("{path}: {}; `stepmark check` says what", counts.join(", ")));
    }
    spinner::waiting_stories(waiting).iter().for_each(|waiting| output.warning(waiting));
    spinner::unreadable(found).iter().for_each(|problem| output.warning(problem));
}

fn epic_titles(rows: &[SummaryRow<'_>]) -> EpicTitles {
    let mut naming: Vec<&SummaryRow<'_>> =
        rows.iter().filter(|row| row.path().file_stem().starts_with("epic")).collect();
    naming.sort_by(|one, other| one.path().cmp(other.path()));
    stepmark_model::summary::epic_titles(naming.iter().flat_map(|row| row.summary().epic_titles))
}

/// Finished artifacts without problems are left out first, then the last ones.
fn chosen<'b, 's: 'b>(briefs: impl Iterator<Item = &'b Brief<'s>>, limit: usize) -> Vec<usize> {
    let is_over =
        |brief: &Brief<'_>| brief.condition == Condition::Finished && brief.problems.problems() == 0;
    let (over, mut places): (Vec<(usize, _)>, Vec<(usize, _)>) =
        briefs.enumerate().partition(|(_, brief)| is_over(brief));
    places.extend(over);
    places.truncate(limit);
    places.into_iter().map(|(place, _)| place).collect()
}

/// Header, groups, and the number left out.
fn lines(rows: &[BriefRow<'_>], (titles, unwritten): (&EpicTitles, &[u16]), limit: usize) -> Vec<String> {
    let members: Vec<GroupMember<'_>> = rows.iter().map(member).collect();
    let groups = entry_groups(&members, titles, unwritten);
    let order: Vec<usize> = groups.iter().flat_map(|group| group.places.iter().copied()).collect();
    let ordered = order.iter().map(|place| &rows[*place].1);
    let mut is_shown = vec![false; rows.len()];
    chosen(ordered, limit).into_iter().for_each(|at| is_shown[order[at]] = true);
    let shown = |place: &&usize| is_shown[**place];
    let paths: Vec<&ProjectPath> = order.iter().filter(shown).map(|place| rows[*place].0.path()).collect();
    let mut names = short_names(&paths, rows.iter().map(|(row, _)| row.path())).into_iter();
    let mut laid = Vec::new();
    for group in &groups {
        let artifacts = group.places.iter().filter(shown).map(|place| Row::Artifact {
            cells: cells(&rows[*place], &names.next().unwrap_or_default()),
            is_child: parent_path(rows[*place].0.path()).is_some(),
            is_inner: group.name.is_some(),
        });
        let artifacts: Vec<Row> = artifacts.collect();
        if !artifacts.is_empty() || group.unwritten > 0 {
            let heading = group.name.as_ref().map(|name| Row::Heading(heading(name, group, rows)));
            laid.extend(heading.into_iter().chain(artifacts));
        }
    }
    let mut lines = lay_out(&laid);
    lines.extend(left_out(rows, &is_shown));
    lines
}

fn member<'s>((row, brief): &BriefRow<'s>) -> GroupMember<'s> {
    let workflow = brief.has_progress.then(|| brief.workflow.in_words());
    let ticket = row.ticket_order().map(|(epic, order)| (epic.to_owned(), order));
    GroupMember { ticket, ..GroupMember::new(row.path(), row.story(), workflow, brief.kind) }
}

/// `Epic 3: Lending (2 of 5 done)`
fn heading(name: &str, group: &EntryGroup, rows: &[BriefRow<'_>]) -> String {
    let own = group.places.iter().filter(|place| parent_path(rows[**place].0.path()).is_none());
    let is_done = |place: &&usize| rows[**place].1.condition == Condition::Finished;
    let (own, done) = (own.clone().count(), own.filter(is_done).count());
    let rest =
        if group.unwritten == 0 { String::new() } else { format!(", {} not written", group.unwritten) };
    format!("{name} ({done} of {} done{rest})", own + group.unwritten)
}

fn cells((row, brief): &BriefRow<'_>, name: &str) -> [String; 5] {
    let summary = row.summary();
    let (entry, listed) = (Entry::of(&summary), summary.completed.len());
    let name = entry.ticket.as_ref().map_or(name, |ticket| &ticket.reference);
    let done = match &entry.bar {
        Some(bar) => format!("{}/{}", bar.done, bar.total),
        None if listed > 0 => format!("{listed}/?"),
        None => String::new(),
    };
    let title = entry.title.as_deref().filter(|title| says_more(title, name)).unwrap_or_default();
    let status = match entry.condition {
        Condition::NotImported => "not imported".to_owned(),
        _ => entry.status.clone().unwrap_or_default(),
    };
    let next = match entry.condition {
        Condition::Finished if entry.bar.is_some() => "finished".to_owned(),
        Condition::NotImported => "import stories".to_owned(),
        Condition::Interrupted => "interrupted: look at it".to_owned(),
        Condition::Waiting => "a person decides".to_owned(),
        Condition::Blocked if entry.ticket.is_some() => entry.next.clone().unwrap_or_default(),
        Condition::Blocked if entry.kind.is_none() && entry.next.is_some() => "a person decides".to_owned(),
        _ => entry.next.clone().unwrap_or_default(),
    };
    let problems = match (brief.problems.errors, brief.problems.warnings) {
        (0, 0) => String::new(),
        (0, warnings) => spinner::count(warnings, "warning"),
        (errors, _) => spinner::count(errors, "error"),
    };
    [format!("{name}  {title}").trim_end().to_owned(), done, status, next, problems]
}

/// A word of `title` is not in `name`: `Story 1.2: Lend a tool` says no more than `1-2-lend-a-tool`.
fn says_more(title: &str, name: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|character: char| !character.is_alphanumeric());
        words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let known = words(name);
    words(title).iter().any(|word| word != "story" && !known.contains(word))
}

/// `None` if all are shown.
fn left_out(rows: &[BriefRow<'_>], is_shown: &[bool]) -> Option<String> {
    let left = || rows.iter().zip(is_shown).filter(|(_, is_shown)| !**is_shown);
    let done = left().filter(|((_, brief), _)| brief.condition == Condition::Finished).count();
    let left = left().count();
    let of_which = if done == 0 { String::new() } else { format!(" ({done} done)") };
    (left > 0).then(|| format!("and {left} more{of_which}: `stepmark status --all`"))
}

const LINE: usize = 80;
const GAP: usize = 2;
const HEADER: [&str; 5] = ["ARTIFACT", "DONE", "STATUS", "NEXT", "PROBLEMS"];
/// Columns that are cut if a line is too long, with their least widths, in order.
const SHRINKING: [(usize, usize); 5] = [(2, 13), (0, 36), (3, 18), (0, 28), (3, 8)];

enum Row {
    Heading(String),
    /// Name, steps, status, next step and problems.
    Artifact {
        cells: [String; 5],
        is_inner: bool,
        is_child: bool,
    },
}

fn lay_out(rows: &[Row]) -> Vec<String> {
    let mut table = vec![HEADER.map(str::to_owned)];
    table.extend(rows.iter().filter_map(|row| match row {
        Row::Heading(_) => None,
        Row::Artifact { cells, is_inner, is_child } => {
            let indent = "  ".repeat(usize::from(*is_inner) + usize::from(*is_child));
            let mut cells = cells.clone().map(|cell| on_one_line(&cell));
            cells[0].insert_str(0, &indent);
            Some(cells)
        }
    }));
    let widths = widths(&table);
    let mut lines = table.into_iter().map(|cells| line(&cells, widths));
    let header = lines.next();
    let below = rows.iter().map(|row| match row {
        Row::Heading(name) => fitted(&on_one_line(name), LINE),
        Row::Artifact { .. } => lines.next().unwrap_or_default(),
    });
    header.into_iter().chain(below).collect()
}

/// 0 for a column that is left out.
fn widths(table: &[[String; 5]]) -> [usize; 5] {
    let column = |at: usize| {
        let is_used = table.iter().skip(1).any(|cells| !cells[at].is_empty());
        let widest = table.iter().map(|cells| width(&cells[at])).max().unwrap_or_default();
        if is_used { widest } else { 0 }
    };
    let mut widths = std::array::from_fn(column);
    for (at, least) in SHRINKING {
        let used = widths.iter().filter(|width| **width > 0);
        let over = (used.sum::<usize>() + GAP * (widths.iter().filter(|width| **width > 0).count() - 1))
            .saturating_sub(LINE);
        widths[at] = widths[at].saturating_sub(over).max(least.min(widths[at]));
    }
    widths
}

fn line(cells: &[String; 5], widths: [usize; 5]) -> String {
    let mut line = String::new();
    for (cell, wide) in cells.iter().zip(widths).filter(|(_, wide)| *wide > 0) {
        let cell = fitted(if cell.is_empty() { "-" } else { cell }, wide);
        line += &cell;
        line.extend(std::iter::repeat_n(' ', wide + GAP - width(&cell)));
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_shown_where_it_says_more_than_the_name() {
        for (title, name, expected) in [
            ("Story 1.2: Lend a tool", "1-2-lend-a-tool", false),
            ("PRD", "prd", false),
            ("PRD of the tool shed", "prd", true),
            ("Größe", "1-1-grosse", true),
            ("", "prd", false),
        ] {
            assert_eq!(says_more(title, name), expected, "{title} {name}");
        }
    }

    #[test]
    fn no_line_is_wider_than_80_columns() {
        let long = "wide 漢字 and e\u{301} longer than a line can be ".repeat(3);
        for filled in 1..32_u8 {
            let cell =
                |at: usize, texts: [&str; 5]| if filled & (1 << at) == 0 { "" } else { texts[at] }.to_owned();
            let cells =
                std::array::from_fn(|at| cell(at, [&long, "1000/1000", &long, &long, "100 warnings"]));
            let short = std::array::from_fn(|at| cell(at, ["prd", "5/14", "draft", "step-2", "1 error"]));
            let rows = [
                Row::Heading(long.clone()),
                Row::Artifact { cells, is_inner: true, is_child: false },
                Row::Artifact { cells: short, is_inner: false, is_child: false },
            ];
            let lines = lay_out(&rows);
            assert_eq!(lines.len(), 4);
            for line in lines {
                assert!(width(&line) <= LINE, "{} {line}", width(&line));
            }
        }
    }
}
