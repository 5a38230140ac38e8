//! `stepmark status`

mod rows;

use clap::Args;
use serde_json::{Value, json};
use stepmark_model::{
    artifact::{ProjectPath, natural_order},
    check::ProblemCounts,
};
use stepmark_store::{
    checking::{Brief, SummaryRow},
    disk::par_map,
    workspace::Artifacts,
};
use stepmark_view::overview::unwritten_stories;

use crate::{
    exit::{Exit, Failure, chain},
    output::{ListArguments, Output, wire::ArtifactWire, with_spinner, wording},
    project::Project,
};

/// The most artifacts that are shown to people who do not say how many: two screens.
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

/// An artifact and where it is shown.
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
        // A record that is no work is no file of which a status is all.
        others.retain(|(_, brief)| brief.kind.is_none());
        rows.sort_by(|(one, _), (other, _)| natural_order(one.path().as_str(), other.path().as_str()));
        let found = summaries.found();
        if output.json {
            output.json("stepmark.status/2", self.answer(project, found, &rows, others.len(), &beside)?);
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
            let ledgers = project.workspace.ledgers().all(all.iter().map(SummaryRow::path)).ledgers;
            let stories = all.iter().filter_map(|row| Some((row.path(), row.story()?)));
            let unwritten = unwritten_stories(stories, &ledgers);
            rows::lines(&rows, (&rows::epic_titles(&all), &unwritten), limit)
                .iter()
                .for_each(|line| output.line(line));
        }
        if !output.json && !others.is_empty() {
            let files = wording::count(others.len(), "file");
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

    fn answer(
        &self,
        project: &Project,
        found: &Artifacts,
        rows: &[BriefRow<'_>],
        others: usize,
        beside: &Beside,
    ) -> Result<Value, Failure> {
        let briefs = rows.iter().map(|(_, brief)| brief);
        let mut shown = rows::chosen(briefs, self.list.limit().unwrap_or(usize::MAX));
        shown.sort_unstable();
        let artifact = |place: &usize| {
            let (row, brief) = &rows[*place];
            let summary = row.summary();
            let mut wire = serde_json::to_value(ArtifactWire::new(&summary, brief.problems))?;
            // As the table shows it.
            wire["title"] = summary.title.or(summary.heading.as_deref()).into();
            Ok::<Value, serde_json::Error>(wire)
        };
        let artifacts: Result<Vec<Value>, _> = shown.iter().map(artifact).collect();
        let artifacts = artifacts.map_err(|error| Failure::from_error(Exit::Io, &error))?;
        let file = |(path, counts): &(ProjectPath, ProblemCounts)| json!({"path": path.as_str(), "problems": counts});
        Ok(json!({
            "root": project.root().path().display().to_string(),
            "files": found.files,
            "total": rows.len(),
            "status_only": others,
            "artifacts": self.list.keep_fields(artifacts)?,
            "other_files": beside.iter().map(file).collect::<Vec<_>>(),
            "unreadable": wording::unreadable(found),
        }))
    }
}

/// Tells what is to be known besides the artifacts: stories that wait, problems in files `beside`, what could
/// not be read.
fn say_beside(found: &Artifacts, waiting: usize, beside: &Beside, output: &Output) {
    for (path, counts) in beside.iter().filter(|(_, counts)| counts.problems() > 0) {
        let counts = [(counts.errors, "error"), (counts.warnings, "warning")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, word)| wording::count(*count, word)).collect();
        output.warning(format_args!("{path}: {}; `stepmark check` says what", counts.join(", ")));
    }
    wording::waiting_stories(waiting).iter().for_each(|waiting| output.warning(waiting));
    wording::unreadable(found).iter().for_each(|problem| output.warning(problem));
}
