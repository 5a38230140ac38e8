//! Shared by the commands that change an artifact.

use std::path::PathBuf;

use crate::{
    commands::sessions::checkpoint,
    exit::{Exit, Failure},
    output::{Output, wire::NextWire},
    project::Project,
};
use clap::{Args, ValueEnum};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    bmad::memlog::Deferred,
    summary::NextSteps,
    tracked_artifact::TrackedArtifact,
    transition::{Command, Remark, Strictness},
};
use stepmark_store::{
    changes::{ChangeReason, ChangeReport},
    commit::Outcome,
};

answers! { Answer<'a>
    /// `complete`, `reopen`, `transition STATE`, `set`, `scope`, `track`, `undo`: what was written, and what
    /// comes next
    "stepmark.change/2" Change {
        path: &'a ProjectPath, changed: bool, file_hash: FileHash, remarks: Vec<String>,
        #[serde(flatten)] next: NextWire,
    }
    /// `defer`: the spec that a finding was added to
    "stepmark.defer/1" Defer { path: &'a ProjectPath, changed: bool }
}

pub(super) fn execute(
    project: &Project,
    output: &Output,
    path: &ProjectPath,
    (command, strictness): (&Command, Strictness),
    reason: ChangeReason,
) -> Result<Exit, Failure> {
    let accepted = match &reason {
        ChangeReason::Forced(reason) => Some(reason.clone()),
        _ => None,
    };
    let carried = project.workspace.execute(path, command, strictness, reason)?;
    report(output, &carried);
    if let Some(reason) = accepted.filter(|_| carried.outcome == Outcome::Unchanged)
        && project.workspace.history().accept_edit(path, &reason)?
    {
        output.remark(format_args!("{path}: what other programs changed is accepted: {reason}"));
    }
    keep_milestone(project, output, &carried, command);
    Ok(Exit::Fine)
}

/// The change remains if the checkpoint fails.
fn keep_milestone(project: &Project, output: &Output, carried: &ChangeReport, command: &Command) {
    let Command::Complete { steps } = command else { return };
    match project.workspace.checkpoints().make_at_milestone(carried, steps) {
        Ok(made) => made.iter().for_each(|made| checkpoint::report(output, made)),
        Err(error) => output.warning(format_args!("no checkpoint was made: {}", crate::exit::chain(&error))),
    }
}

pub(crate) fn report(output: &Output, carried: &ChangeReport) {
    let (changed, file_hash) = match carried.outcome {
        Outcome::Unchanged | Outcome::Deleted { .. } => (false, carried.artifact.artifact().file_hash()),
        Outcome::Written { after, .. } => (true, after),
    };
    let path = carried.artifact.path();
    if output.json {
        return output.answer(|| Answer::Change {
            path,
            changed,
            file_hash,
            remarks: carried.remarks.iter().map(|remark| text(carried, remark)).collect(),
            next: NextWire::new(&carried.artifact),
        });
    }
    let done = changed.then(|| "written".to_owned());
    tell(
        output,
        &carried.artifact,
        carried.remarks.iter().map(|remark| (remark, text(carried, remark))),
        done,
    );
}

/// Remarks first, then `done`, then the next steps.
pub(crate) fn tell<'r>(
    output: &Output,
    artifact: &TrackedArtifact,
    remarks: impl Iterator<Item = (&'r Remark, String)>,
    done: Option<String>,
) {
    let path = artifact.path();
    for (remark, text) in remarks {
        if remark.is_warning() {
            output.warning(format_args!("{path}: {text}"));
        } else {
            output.remark(format_args!("{path}: {text}"));
        }
    }
    let Some(done) = done else { return output.remark(format_args!("{path}: nothing to write")) };
    let progress = artifact.progress().map(|progress| {
        let next = crate::output::spinner::next(&NextSteps::of(progress.next));
        format!(", {}/{}, next: {next}", progress.done_units, progress.total)
    });
    output.remark(format_args!("{path}: {done}{}", progress.unwrap_or_default()));
}

fn text(carried: &ChangeReport, remark: &Remark) -> String {
    let gaps = carried.artifact.progress().map(|progress| progress.gaps).unwrap_or_default();
    match (remark, gaps.as_slice()) {
        (Remark::OutOfOrder { .. }, [first, ..]) => {
            let (path, first) = (carried.artifact.path(), first.name());
            let steps: Vec<_> = gaps.iter().map(|step| step.name()).collect();
            format!(
                "{remark}; when they are done, too: `stepmark complete {path} {}`; a step that was skipped is `{first}-skipped`",
                steps.join(" ")
            )
        }
        _ => remark.to_string(),
    }
}

/// Put a finding of a review off: add it to `deferred` in a spec of BMAD
///
/// It is written in block style, as the skills of BMAD want it, and read again before it is kept. The list
/// only grows: of several agents at once each finding stays.
#[derive(Debug, Args)]
pub(crate) struct Defer {
    /// The spec
    artifact: PathBuf,
    /// What is put off, in a sentence
    #[arg(long, allow_hyphen_values = true)]
    summary: String,
    /// What shows that it is so; lines stay lines
    #[arg(long, allow_hyphen_values = true)]
    evidence: String,
    /// Where: `src/a.rs:7`
    #[arg(long, value_name = "PLACE")]
    location: Option<String>,
    /// How bad it is
    #[arg(long)]
    severity: Option<Severity>,
    /// Nobody has verified how bad it is
    #[arg(long, requires = "severity")]
    unverified: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Severity {
    High,
    Medium,
    Low,
}

impl Defer {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let path = project.artifact_path(&self.artifact)?;
        let word =
            self.severity.and_then(|severity| Some(severity.to_possible_value()?.get_name().to_owned()));
        let severity = word.map(|word| if self.unverified { format!("{word} (unverified)") } else { word });
        let (summary, evidence) = (&*self.summary, &*self.evidence);
        if summary.trim().is_empty() || evidence.trim().is_empty() {
            return Err(Failure::new(Exit::Usage, "a finding needs a summary and evidence"));
        }
        let (location, severity) = (self.location.as_deref(), severity.as_deref());
        project.workspace.defer(&path, &Deferred { summary, evidence, location, severity })?;
        output.answer(|| Answer::Defer { path: &path, changed: true });
        output.remark(format_args!("{path}: written"));
        Ok(Exit::Fine)
    }
}
