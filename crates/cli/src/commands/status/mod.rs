//! `stepmark status`

mod columns;
mod problems;
mod rows;

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};
use stepmark_model::{
    artifact::{ProjectPath, natural_order},
    tracked_artifact::TrackedArtifact,
};
use stepmark_store::workspace::Artifacts;

use self::problems::Problems;
use crate::{
    exit::{Exit, Failure},
    output::{
        ListArguments, Output,
        wire::{ArtifactWire, ProblemCounts},
        with_spinner, wording,
    },
    project::Project,
};

/// How many artifacts are shown to people who do not say how many: two screens.
const USUAL_LIMIT: usize = 50;

/// Show what is done, what comes next and what is wrong
///
/// Artifacts stand by epic and workflow; without --limit and --json 50, and what is finished is left out first. An artifact counts where it carries workflow state; a file of which a status is all, such as a post of a blog, is shown with --all only. Its
/// name here is what other commands take for it. `stepmark list` selects and sorts, and shows whole paths.
#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    list: ListArguments,
    /// Show all artifacts, and files of which a status is all
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

/// An artifact and what is wrong with it.
type Counted<'a> = (&'a TrackedArtifact, ProblemCounts);

impl Status {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let found = with_spinner("reading artifacts", output.quiet, |count| {
            project.workspace.artifacts_counted(count)
        })?;
        let mut problems = Problems::of(project, &found.artifacts, output);
        let have_state = project.workspace.have_workflow_state(&found.artifacts);
        let counted = found.artifacts.iter().map(|artifact| {
            (artifact, problems.counts.remove(TrackedArtifact::path(artifact)).unwrap_or_default())
        });
        let mut have_state = have_state.into_iter();
        let (mut rows, others): (Vec<Counted<'_>>, Vec<Counted<'_>>) =
            counted.partition(|_| have_state.next().unwrap_or(true) || self.all);
        rows.sort_by(|(one, _), (other, _)| natural_order(one.path().as_str(), other.path().as_str()));
        if output.json {
            output.json("stepmark.status/1", self.answer(project, &found, &rows, &others, &problems.counts)?);
        } else if rows.is_empty() {
            output.remark(format_args!(
                "no artifact with workflow state among {} Markdown files of {}",
                found.files,
                project.root().path().display()
            ));
        } else {
            let limit = self.list.limit().unwrap_or(USUAL_LIMIT);
            let limit = if self.all { usize::MAX } else { limit };
            let epics = found.artifacts.iter();
            rows::lines(&rows, epics, limit).iter().for_each(|line| output.line(line));
        }
        if !output.json && !others.is_empty() {
            let files = wording::count(others.len(), "file");
            let is_wrong = |(_, counts): &&Counted<'_>| counts.errors + counts.warnings > 0;
            let wrong = match others.iter().filter(is_wrong).count() {
                0 => String::new(),
                wrong => format!(" ({wrong} with problems)"),
            };
            output.remark(format_args!("{files} with nothing but a status{wrong}: `stepmark status --all`"));
        }
        say_beside(&found, &problems.counts, output);
        Ok(if found.is_whole() && problems.is_whole { Exit::Fine } else { Exit::Io })
    }

    fn answer(
        &self,
        project: &Project,
        found: &Artifacts,
        rows: &[Counted<'_>],
        others: &[Counted<'_>],
        beside: &BTreeMap<ProjectPath, ProblemCounts>,
    ) -> Result<Value, Failure> {
        let entries = rows::entries(rows);
        let mut shown = rows::chosen(&entries, self.list.limit().unwrap_or(usize::MAX));
        shown.sort_unstable();
        let artifact =
            |place: &usize| serde_json::to_value(ArtifactWire::new(rows[*place].0, rows[*place].1));
        let artifacts: Result<Vec<Value>, _> = shown.iter().map(artifact).collect();
        let artifacts = artifacts.map_err(|error| Failure::from_error(Exit::Io, &error))?;
        let file = |(path, counts): (&ProjectPath, &ProblemCounts)| json!({"path": path.as_str(), "problems": counts});
        Ok(json!({
            "root": project.root().path().display().to_string(),
            "files": found.files,
            "total": rows.len(),
            "status_only": others.len(),
            "artifacts": self.list.keep_fields(artifacts)?,
            "beside": beside.iter().map(file).collect::<Vec<_>>(),
            "unreadable": wording::unreadable(found),
        }))
    }
}

/// What is to be known besides the artifacts: stories that wait, problems in files `beside`, what could not be read.
fn say_beside(found: &Artifacts, beside: &BTreeMap<ProjectPath, ProblemCounts>, output: &Output) {
    for (path, counts) in beside.iter().filter(|(_, counts)| counts.errors + counts.warnings > 0) {
        let counts = [(counts.errors, "error"), (counts.warnings, "warning")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, word)| wording::count(*count, word)).collect();
        output.warning(format_args!("{path}: {}; `stepmark check` says what", counts.join(", ")));
    }
    let waiting = found.artifacts.iter().filter(|artifact| artifact.waits_for_import()).count();
    wording::waiting_stories(waiting).iter().for_each(|waiting| output.warning(waiting));
    wording::unreadable(found).iter().for_each(|problem| output.warning(problem));
}
