//! `stepmark check`

use std::path::PathBuf;

use clap::Args;
use stepmark_core::{
    artifact::ProjectPath,
    check::{Finding, Severity},
    workspace::{Artifacts, Selection, TrackedArtifact},
};

use crate::{
    exit::{Exit, Failure},
    output::{
        Excerpt, Output,
        wire::{FindingWire, ProblemCounts},
        with_spinner, wording,
    },
    project::Project,
};

/// Check frontmatter: what is unreadable, what is odd, what disagrees
///
/// Ends with 1 when there is an error or a warning. Notes never fail.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Files and folders; without any, all artifacts of the project
    paths: Vec<PathBuf>,
}

impl Check {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let checked = self.artifacts(project, output)?;
        let selection = if self.paths.is_empty() { Selection::All } else { Selection::Some };
        let findings = project.workspace.check(&checked.artifacts, selection)?;
        let all: Vec<_> = checked.artifacts.iter().zip(findings).collect();
        let counts =
            ProblemCounts::of(&all.iter().flat_map(|(_, findings)| findings.clone()).collect::<Vec<_>>());
        if output.json {
            print_json(output, &checked, &all);
        } else {
            print_reports(output, &all);
            summarise(output, checked.artifacts.len(), counts);
        }
        wording::unreadable(&checked).iter().for_each(|problem| output.warning(problem));
        Ok(if !checked.is_whole() {
            Exit::Io
        } else if counts.errors + counts.warnings > 0 {
            Exit::Findings
        } else {
            Exit::Fine
        })
    }

    /// The artifacts that the paths name; a folder stands for the artifacts in it, a file for itself.
    fn artifacts(&self, project: &Project, output: &Output) -> Result<Artifacts, Failure> {
        let all = || {
            with_spinner("checking artifacts", output.quiet, |count| {
                project.workspace.artifacts_counted(count)
            })
        };
        if self.paths.is_empty() {
            return Ok(all()?);
        }
        let mut chosen = Artifacts::default();
        let mut folders: Vec<Option<ProjectPath>> = Vec::new();
        for given in &self.paths {
            if project.is_folder(given) {
                folders.push(project.folder(given)?);
                continue;
            }
            let artifact = project.artifact(given)?;
            chosen.artifacts.push(artifact);
        }
        if !folders.is_empty() {
            let found = all()?;
            let lies_in = |path: &ProjectPath| {
                folders.iter().any(|folder| folder.as_ref().is_none_or(|folder| path.starts_with(folder)))
            };
            chosen.artifacts.extend(found.artifacts.into_iter().filter(|artifact| lies_in(artifact.path())));
            chosen.problems = found.problems;
            chosen
                .problems
                .retain(|problem| ProjectPath::new(&problem.path).is_ok_and(|path| lies_in(&path)));
            chosen.unreadable = found.unreadable;
            chosen.unreadable.retain(|error| lies_in(error.path()));
        }
        chosen.artifacts.sort_by(|one, other| one.path().cmp(other.path()));
        chosen.artifacts.dedup_by(|one, other| one.path() == other.path());
        Ok(chosen)
    }
}

fn print_json(output: &Output, checked: &Artifacts, all: &[(&TrackedArtifact, Vec<Finding>)]) {
    let mut wires = Vec::new();
    for (artifact, findings) in all {
        let excerpt = Excerpt::new(artifact.artifact().bytes());
        wires.extend(findings.iter().map(|finding| {
            let (start, end) = (excerpt.position(finding.span.start), excerpt.position(finding.span.end));
            FindingWire::new(finding, start, end)
        }));
    }
    let unreadable = wording::unreadable(checked);
    output.json(
        "stepmark.check/1",
        serde_json::json!({"artifacts": checked.artifacts.len(), "findings": wires, "unreadable": unreadable}),
    );
}

fn print_reports(output: &Output, all: &[(&TrackedArtifact, Vec<Finding>)]) {
    for (artifact, findings) in all {
        if findings.is_empty() {
            continue;
        }
        let excerpt = Excerpt::new(artifact.artifact().bytes());
        for finding in findings.iter().filter(|finding| !output.quiet || finding.severity != Severity::Note) {
            output.styled_line(format_args!("{}\n", excerpt.report(finding)));
        }
    }
}

fn summarise(output: &Output, artifacts: usize, counts: ProblemCounts) {
    let ProblemCounts { errors, warnings, notes } = counts;
    output.remark(format_args!(
        "{}: {}, {}, {}",
        wording::count(artifacts, "artifact"),
        wording::count(errors, "error"),
        wording::count(warnings, "warning"),
        wording::count(notes, "note"),
    ));
}
