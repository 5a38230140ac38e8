//! `stepmark status`

use std::collections::BTreeMap;

use clap::Args;
use serde_json::json;
use stepmark_core::{
    artifact::ProjectPath,
    workspace::{Artifacts, Known, Selection, TrackedArtifact},
};

use crate::{
    exit::{Exit, Failure, chain},
    output::{
        Output, bar, table,
        wire::{ArtifactWire, ProblemCounts},
        with_spinner, wording,
    },
    project::Project,
};

/// Show every artifact: its workflow, how far it is, and what comes next
#[derive(Debug, Args)]
pub(crate) struct Status {}

impl Status {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let found = with_spinner("reading artifacts", output.quiet, |count| {
            project.workspace.artifacts_counted(count)
        })?;
        let mut problems = Problems::of(project, &found.artifacts, output);
        let counted = |artifact| {
            (artifact, problems.counts.remove(TrackedArtifact::path(artifact)).unwrap_or_default())
        };
        let rows: Vec<_> = found.artifacts.iter().map(counted).collect();
        let beside = problems.counts;
        if output.json {
            let artifacts: Vec<_> =
                rows.iter().map(|(artifact, counts)| ArtifactWire::new(artifact, *counts)).collect();
            let unreadable = wording::unreadable(&found);
            let root = project.root().path().display().to_string();
            let file = |(path, counts): (&ProjectPath, &ProblemCounts)| json!({"path": path.as_str(), "problems": counts});
            output.json(
                "stepmark.status/1",
                json!({
                    "root": root,
                    "files": found.files,
                    "artifacts": artifacts,
                    "beside": beside.iter().map(file).collect::<Vec<_>>(),
                    "unreadable": unreadable,
                }),
            );
        } else if rows.is_empty() {
            output.remark(format_args!(
                "no artifact with workflow state among {} Markdown files of {}",
                found.files,
                project.root().path().display()
            ));
        } else {
            let header = ["ARTIFACT", "WORKFLOW", "DONE", "NEXT", "STATUS", "PROBLEMS"];
            output.line(table(&header, rows.iter().map(|(artifact, counts)| row(artifact, *counts))));
        }
        say_beside(&found, &beside, output);
        Ok(if found.is_whole() && problems.is_whole { Exit::Fine } else { Exit::Io })
    }
}

/// How many problems a check has found in each file.
struct Problems {
    /// Artifacts, and files beside them in which something is wrong.
    counts: BTreeMap<ProjectPath, ProblemCounts>,
    /// Whether everything was looked at.
    is_whole: bool,
}

impl Problems {
    /// Those of all `artifacts` of `project`. Where no check can be made, what is wrong with each by itself is better than no answer.
    fn of(project: &Project, artifacts: &[TrackedArtifact], output: &Output) -> Self {
        match project.workspace.check(artifacts, Selection::All, Known::LeftOut) {
            Ok(report) => {
                let counted =
                    report.files.into_iter().map(|file| (file.path, ProblemCounts::of(&file.findings)));
                Self { counts: counted.collect(), is_whole: true }
            }
            Err(error) => {
                output.warning(format_args!(
                    "only what is wrong with each artifact by itself is counted: {}",
                    chain(&error)
                ));
                let counted = artifacts.iter().map(|artifact| {
                    (artifact.path().clone(), ProblemCounts::of(&project.workspace.own_findings(artifact)))
                });
                Self { counts: counted.collect(), is_whole: false }
            }
        }
    }
}

/// What is to be known besides the artifacts: stories that wait, problems in files `beside`, what could not be read.
fn say_beside(found: &Artifacts, beside: &BTreeMap<ProjectPath, ProblemCounts>, output: &Output) {
    for (path, counts) in beside.iter().filter(|(_, counts)| counts.errors + counts.warnings > 0) {
        output.warning(format_args!("{path}: {}; `stepmark check` says what", problems(*counts)));
    }
    let waiting = found.artifacts.iter().filter(|artifact| artifact.waits_for_import()).count();
    wording::waiting_stories(waiting).iter().for_each(|waiting| output.warning(waiting));
    wording::unreadable(found).iter().for_each(|problem| output.warning(problem));
}

fn row(artifact: &TrackedArtifact, counts: ProblemCounts) -> Vec<String> {
    let progress = artifact.progress();
    let dash = || "-".to_owned();
    let listed = artifact.steps().completed().len();
    let done = match &progress {
        Some(progress) => bar(progress.done_units, progress.total),
        None if listed > 0 => format!("{listed}/?"),
        None => dash(),
    };
    let status = artifact.state().status.as_ref().and_then(|status| status.filled());
    vec![
        artifact.path().to_string(),
        wording::workflow(artifact),
        done,
        progress.as_ref().map_or_else(dash, wording::next),
        status.map_or_else(dash, str::to_owned),
        problems(counts),
    ]
}

fn problems(counts: ProblemCounts) -> String {
    let counts = [(counts.errors, "error"), (counts.warnings, "warning")];
    let parts: Vec<_> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| wording::count(count, word))
        .collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}
