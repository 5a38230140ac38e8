//! The state of the files that follow records, and what a check finds in them.

use super::{
    audit::{FileProblem, problems},
    record_format::{DriftedRecord as _, Files, RecordFormat},
};
use crate::disk::Root;
use crate::git::{GitVersion, GitVersionError};
use stepmark_model::{
    artifact::ProjectPath,
    check::{
        Finding,
        rules::systems::{projection_behind_finding, projection_damaged_finding, projection_drift_finding},
    },
};

/// A file beside the artifacts, and what is wrong with it.
pub(crate) struct FileFindings {
    pub(crate) path: ProjectPath,
    pub(crate) bytes: Vec<u8>,
    pub(crate) findings: Vec<Finding>,
}

/// A file that follows records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowingFile {
    /// The file.
    pub path: ProjectPath,
    /// Its state: `current`, `behind`, `drift`, `damaged` or `gone`.
    pub state: &'static str,
    /// The ids of the records that another program changed in it.
    pub drift: Vec<String>,
}

/// The files of `format` that are there or were written here, each with its state where the records are
/// `state` and `read` gives a file.
pub(crate) fn states<F: RecordFormat>(
    root: &Root,
    format: &F,
    state: &F::State,
    read: impl Fn(&ProjectPath) -> Option<Vec<u8>>,
) -> Vec<FollowingFile> {
    let file = |(path, problem): (ProjectPath, Option<FileProblem<F::Drift>>)| {
        let (state, drift) = problem.map_or(("current", Vec::new()), FileProblem::named);
        FollowingFile { path, state, drift: drift.iter().map(|drift| drift.id().to_owned()).collect() }
    };
    problems(root, format, state, &found(format, read)).into_iter().map(file).collect()
}

/// The findings in the files of `format`, where the records are `state` and `read` gives a file (`None`:
/// there is none, or it cannot be read). Files `is_old_as_wanted` may be older than the records.
pub(crate) fn findings<F: RecordFormat>(
    root: &Root,
    (format, is_old_as_wanted): (&F, bool),
    state: &F::State,
    read: impl Fn(&ProjectPath) -> Option<Vec<u8>>,
) -> Vec<FileFindings> {
    let commands = [format.import(), format.project()];
    let mut found = found(format, read);
    let problems = problems(root, format, state, &found);
    let findings = |path: &ProjectPath, bytes: &[u8], problem: FileProblem<F::Drift>| match problem {
        FileProblem::Behind if is_old_as_wanted => Vec::new(),
        FileProblem::Behind => vec![projection_behind_finding(path, commands[1])],
        FileProblem::Damaged => vec![projection_damaged_finding(path, false, commands[1])],
        FileProblem::Gone => vec![projection_damaged_finding(path, true, commands[1])],
        FileProblem::Drift(drift) => drift
            .iter()
            .map(|own| projection_drift_finding(path, bytes, (own.id(), own.change()), commands))
            .collect(),
    };
    let file = |(path, problem): (ProjectPath, Option<FileProblem<F::Drift>>)| {
        let bytes = found.remove(&path).unwrap_or_default();
        let findings = findings(&path, &bytes, problem?);
        Some(FileFindings { path, bytes, findings })
    };
    problems.into_iter().filter_map(file).collect()
}

fn found<F: RecordFormat>(format: &F, read: impl Fn(&ProjectPath) -> Option<Vec<u8>>) -> Files {
    let read = |path: ProjectPath| read(&path).map(|bytes| (path, bytes));
    format.paths().into_iter().filter_map(read).collect()
}

/// The Markdown files of `folder` in `version`, where `is_touched` says that one of them is changed, or a
/// file of `format` is.
///
/// # Errors
/// When git does not answer.
pub(crate) fn files_touched<F: RecordFormat>(
    (format, folder): (&F, &ProjectPath),
    mut is_touched: bool,
    version: &GitVersion,
) -> Result<Option<Files>, GitVersionError> {
    for path in format.paths() {
        is_touched = is_touched || version.is_changed(&path)?;
    }
    if !is_touched {
        return Ok(None);
    }
    let files = version.files_in(folder)?.into_iter();
    Ok(Some(files.filter(|(path, _)| path.extension() == Some("md")).collect()))
}
