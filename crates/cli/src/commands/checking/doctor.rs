//! `stepmark doctor`

use crate::{
    exit::{Exit, Failure},
    output::{
        Output,
        findings::{FixedArtifact, Format},
        on_one_line, spinner, unified_diff,
    },
    project::Project,
};
use clap::Args;
use stepmark_model::{
    artifact::ProjectPath,
    check::{Declined, Finding, FixedFile, Safety},
};
use stepmark_store::{
    checking::{CheckReport, CheckedFile},
    doctor::{Diagnosis, DoctorFinding, DoctorFix},
    fixing::{StagedFix, StagedOutcome},
    git::GitVersion,
    repository::ChangedArtifact,
};

/// Look for what is not as it should be, and fix what can be
///
/// Torn and broken lines of the journal, commits that were cut off, checkpoints that cannot be trusted, bytes
/// of other programs that were kept, and artifacts whose state history cannot explain.
///
/// Reads only, unless `--repair` is given: then what was cut off is finished, and torn last lines of the
/// journal are cut off and kept beside it. The rest needs a person; each finding says what to do.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Fix what can be fixed without a decision
    #[arg(long)]
    repair: bool,
}

answers! { Answer<'a>
    /// `doctor`: what is not as it should be, and what was repaired
    "stepmark.doctor/2" Doctor { findings: &'a [DoctorFinding], fixed: &'a [DoctorFix] }
}

impl Doctor {
    pub(crate) fn run(&self, project: &Project, output: &Output) -> Result<Exit, Failure> {
        let diagnosis = if self.repair {
            project.workspace.doctor().repair()?
        } else {
            project.workspace.doctor().diagnose()?
        };
        output.answer(|| Answer::Doctor { findings: &diagnosis.findings, fixed: &diagnosis.fixed });
        report(output, &diagnosis);
        Ok(if diagnosis.findings.is_empty() { Exit::Fine } else { Exit::Findings })
    }
}

fn report(output: &Output, diagnosis: &Diagnosis) {
    if diagnosis.is_index_renewed {
        output.remark("the index of the journal had lost events, and was made anew");
    }
    for fix in &diagnosis.fixed {
        output.line(format_args!("{}: {}", fix.path, fix.message));
    }
    for found in &diagnosis.findings {
        output.line(format_args!("{}: {}: {}", found.path, found.word(), found.message));
        output.line(format_args!("  help: {}", found.help));
    }
    for path in &diagnosis.behind {
        output.remark(format_args!(
            "{path}: history knows a later state, of another branch or work tree, or of one that is gone: \
             `stepmark log {path}` shows it"
        ));
    }
    match diagnosis.findings.len() {
        0 => output.remark("all is well"),
        count => output.remark(spinner::count(count, "finding")),
    }
}

/// Which fixes are made, and how.
#[derive(Debug, Default, Args)]
pub(crate) struct FixArguments {
    /// Make the safe fixes: those after which no reader takes the file for anything else
    #[arg(long)]
    fix: bool,
    /// With --fix or --diff: take fixes in that lose something or choose for you
    #[arg(long)]
    unsafe_fixes: bool,
    /// Print what the fixes would change as a patch, and write nothing
    #[arg(long)]
    diff: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fixing {
    Offered,
    Made(Safety),
    Shown(Safety),
}

#[derive(Debug, Default)]
pub(super) struct Fixed {
    pub(super) files: Vec<FixedArtifact>,
    pub(super) failures: Vec<Failure>,
    /// Fixes of staged artifacts that could not be written: patches for the index.
    pub(super) patches: Vec<(ProjectPath, Vec<u8>)>,
}

impl FixArguments {
    pub(super) const fn fixing(&self) -> Fixing {
        let allowed = if self.unsafe_fixes { Safety::Unsafe } else { Safety::Safe };
        match (self.diff, self.fix) {
            (true, _) => Fixing::Shown(allowed),
            (false, true) => Fixing::Made(allowed),
            (false, false) => Fixing::Offered,
        }
    }
}

pub(super) fn make(project: &Project, found: &CheckReport<'_>, allowed: Safety) -> Fixed {
    let mut fixed = Fixed::default();
    for file in fixable(found, allowed) {
        match project.workspace.fixes().make(&file.path, allowed) {
            Ok(FixedFile { made, declined, .. }) => {
                fixed.files.push(FixedArtifact { path: file.path.clone(), made, declined });
            }
            Err(error) => fixed.failures.push(error.into()),
        }
    }
    fixed
}

pub(super) fn show(
    project: &Project,
    output: &Output,
    found: &CheckReport<'_>,
    allowed: Safety,
) -> Result<(), Failure> {
    for file in fixable(found, allowed) {
        let (path, bytes) = (&file.path, &*file.bytes);
        let fixed = project.workspace.fixes().preview(path, bytes, allowed)?;
        output.bytes(&unified_diff(path.as_str(), bytes, &fixed.bytes));
        warn_of_declined(output, path, &fixed.declined);
    }
    note_unsafe(output, found, allowed);
    Ok(())
}

pub(super) fn make_staged(
    project: &Project,
    version: &GitVersion,
    changed: &[ChangedArtifact],
    found: &CheckReport<'_>,
    allowed: Safety,
) -> Fixed {
    let mut fixed = Fixed::default();
    for changed in fixable_changes(changed, found, allowed) {
        match project.workspace.fixes().make_staged(changed, version, allowed) {
            Ok(None) => {}
            Ok(Some(StagedFix { path, before, fixed: file, outcome: StagedOutcome::WorkTreeDiffers })) => {
                let patch = unified_diff(path.as_str(), &before, &file.bytes);
                fixed.patches.push((path, patch));
            }
            Ok(Some(StagedFix { path, fixed: FixedFile { made, declined, .. }, .. })) => {
                fixed.files.push(FixedArtifact { path, made, declined });
            }
            Err(error) => fixed.failures.push(error.into()),
        }
    }
    fixed
}

pub(super) fn show_changes(
    project: &Project,
    output: &Output,
    version: &GitVersion,
    changed: &[ChangedArtifact],
    found: &CheckReport<'_>,
    allowed: Safety,
) -> Result<(), Failure> {
    for changed in fixable_changes(changed, found, allowed) {
        let ChangedArtifact::Present { now, .. } = changed else { continue };
        let Some(fixed) = project.workspace.fixes().preview_staged(changed, version, allowed)? else {
            continue;
        };
        let (path, bytes) = (now.path(), now.artifact().bytes());
        output.bytes(&unified_diff(path.as_str(), bytes, &fixed.bytes));
        warn_of_declined(output, path, &fixed.declined);
    }
    note_unsafe(output, found, allowed);
    Ok(())
}

fn note_unsafe(output: &Output, found: &CheckReport<'_>, allowed: Safety) {
    let is_unsafe = |finding: &&Finding| finding.fix.as_ref().is_some_and(|fix| fix.safety > allowed);
    let more = found.findings().filter(is_unsafe).count();
    if more > 0 {
        output.note(format_args!("`--fix --unsafe-fixes --diff` shows {more} more"));
    }
}

/// The patches for people, the reason for all.
pub(super) fn show_patches(output: &Output, format: Format, patches: &[(ProjectPath, Vec<u8>)]) {
    for (path, patch) in patches {
        if format == Format::Human {
            output.bytes(patch);
        }
        output.warning(format_args!(
            "{path}: not fixed, since the work tree holds something else than the index; \
             `stepmark check --staged --diff | git apply --cached` fixes what is staged"
        ));
    }
}

pub(super) fn warn_of_declined(output: &Output, path: &ProjectPath, declined: &[Declined]) {
    for Declined { remedy, reason } in declined {
        let title = on_one_line(&remedy.title);
        output.warning(format_args!("{path}: {} `{title}` is not done: {reason}", remedy.rule.id));
    }
}

/// The others are warnings.
pub(super) fn first_failure(output: &Output, failures: Vec<Failure>) -> Option<Failure> {
    let mut failures = failures.into_iter();
    let first = failures.next();
    failures.for_each(|failure| output.warning(&failure.message));
    first
}

fn fixable<'a>(found: &'a CheckReport<'a>, allowed: Safety) -> impl Iterator<Item = &'a CheckedFile<'a>> {
    found.files.iter().filter(move |file| has_fix(file, allowed))
}

fn fixable_changes<'a>(
    changed: &'a [ChangedArtifact],
    found: &'a CheckReport<'_>,
    allowed: Safety,
) -> impl Iterator<Item = &'a ChangedArtifact> {
    let pairs = changed.iter().zip(&found.files);
    pairs.filter(move |(_, file)| has_fix(file, allowed)).map(|(changed, _)| changed)
}

fn has_fix(file: &CheckedFile<'_>, allowed: Safety) -> bool {
    let is_allowed = |finding: &Finding| finding.fix.as_ref().is_some_and(|fix| fix.safety <= allowed);
    file.findings.iter().any(is_allowed)
}
