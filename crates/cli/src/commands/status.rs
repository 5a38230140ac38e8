//! `stepmark status`

use clap::Args;
use stepmark_core::workspace::TrackedArtifact;

use crate::{
    exit::{Exit, Failure},
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
        let rows: Vec<_> = found
            .artifacts
            .iter()
            .map(|artifact| (artifact, ProblemCounts::of(&project.workspace.own_findings(artifact))))
            .collect();
        if output.json {
            let artifacts: Vec<_> =
                rows.iter().map(|(artifact, counts)| ArtifactWire::new(artifact, *counts)).collect();
            let unreadable = wording::unreadable(&found);
            let root = project.root().path().display().to_string();
            output.json(
                "stepmark.status/1",
                serde_json::json!({"root": root, "files": found.files, "artifacts": artifacts, "unreadable": unreadable}),
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
        for problem in wording::unreadable(&found) {
            output.warning(problem);
        }
        Ok(if found.is_whole() { Exit::Fine } else { Exit::Io })
    }
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
