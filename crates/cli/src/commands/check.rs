//! `stepmark check`

use std::path::PathBuf;

use clap::Args;
use stepmark_core::{
    artifact::ProjectPath,
    check::{Finding, Severity},
    workspace::{Artifacts, ChangedArtifact, Comparison, GitVersion, Selection, TrackedArtifact},
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
    #[arg(conflicts_with_all = ["staged", "from"])]
    paths: Vec<PathBuf>,
    /// Check what the next commit changes: the artifacts in the index of git, and what became of them since HEAD
    ///
    /// The work tree is neither read nor written, so unstaged changes do not count.
    #[arg(long)]
    staged: bool,
    /// Check what a branch changes since it left this commit, as in a pull request
    #[arg(long, value_name = "COMMIT", conflicts_with = "staged")]
    from: Option<String>,
    /// With --from: the last commit of the branch
    #[arg(long, value_name = "COMMIT", requires = "from", default_value = "HEAD")]
    to: String,
}

impl Check {
    /// Which states of the repository are compared; `None`: the work tree is checked.
    pub(crate) fn comparison(&self) -> Option<Comparison> {
        match &self.from {
            Some(from) => Some(Comparison::Commits { from: from.clone(), to: self.to.clone() }),
            None => self.staged.then_some(Comparison::Index),
        }
    }

    /// Checks what changed in git.
    pub(crate) fn run_on_changes(
        &self,
        project: &Project,
        version: &GitVersion,
        output: &Output,
    ) -> Result<Exit, Failure> {
        let changed = project.workspace.changed_artifacts(version)?;
        let findings = project.workspace.check_changes(&changed.artifacts, version)?;
        let artifacts = changed.artifacts.into_iter().map(ChangedArtifact::into_latest).collect();
        let checked = Artifacts {
            artifacts,
            problems: changed.problems,
            unreadable: changed.unreadable,
            ..Artifacts::default()
        };
        let all: Vec<_> = checked.artifacts.iter().zip(findings).collect();
        Ok(report(output, &checked, &all))
    }

    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let checked = self.artifacts(project, output)?;
        let selection = if self.paths.is_empty() { Selection::All } else { Selection::Some };
        let findings = project.workspace.check(&checked.artifacts, selection)?;
        let all: Vec<_> = checked.artifacts.iter().zip(findings).collect();
        Ok(report(output, &checked, &all))
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

/// Shows all findings and says how the program ends.
fn report(output: &Output, checked: &Artifacts, all: &[(&TrackedArtifact, Vec<Finding>)]) -> Exit {
    let counts =
        ProblemCounts::of(&all.iter().flat_map(|(_, findings)| findings.clone()).collect::<Vec<_>>());
    if output.json {
        print_json(output, checked, all);
    } else {
        print_reports(output, all);
        summarise(output, checked.artifacts.len(), counts);
    }
    wording::unreadable(checked).iter().for_each(|problem| output.warning(problem));
    if !checked.is_whole() {
        Exit::Io
    } else if counts.errors + counts.warnings > 0 {
        Exit::Findings
    } else {
        Exit::Fine
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
