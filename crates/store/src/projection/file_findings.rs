//! The state of the files that follow records, and what a check finds in them.

use super::record_format::{DriftOf, Files, RecordFormat};
use super::written_files::WrittenFiles;
use crate::disk::Root;
use crate::git::{GitVersion, GitVersionError};
use stepmark_model::artifact::{FileHash, ProjectPath};
use stepmark_model::check::Finding;
use stepmark_model::check::rules::systems::{
    projection_behind_finding, projection_damaged_finding, projection_drift_finding,
};

pub(crate) struct FileFindings {
    pub(crate) path: ProjectPath,
    pub(crate) bytes: Vec<u8>,
    pub(crate) findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowingFile {
    pub path: ProjectPath,
    /// Its state: `current`, `behind`, `drift`, `damaged` or `gone`.
    pub state: &'static str,
    /// The ids of the records that another program changed in it.
    pub drift: Vec<String>,
}

pub(crate) fn states<F: RecordFormat>(
    root: &Root,
    format: &F,
    state: &F::State,
    read: impl Fn(&ProjectPath) -> Option<Vec<u8>>,
) -> Vec<FollowingFile> {
    let file = |(path, problem): (ProjectPath, Option<FileProblem<DriftOf<F>>>)| {
        let (state, drift) = problem.map_or(("current", Vec::new()), FileProblem::named);
        FollowingFile { path, state, drift: drift.iter().map(|drift| drift.id.clone()).collect() }
    };
    problems(root, format, state, &found(format, read)).into_iter().map(file).collect()
}

pub(crate) fn findings<F: RecordFormat>(
    root: &Root,
    (format, is_old_as_wanted): (&F, bool),
    state: &F::State,
    read: impl Fn(&ProjectPath) -> Option<Vec<u8>>,
) -> Vec<FileFindings> {
    let commands = [format.system().import, format.system().project];
    let mut found = found(format, read);
    let problems = problems(root, format, state, &found);
    let findings = |path: &ProjectPath, bytes: &[u8], problem: FileProblem<DriftOf<F>>| match problem {
        FileProblem::Behind if is_old_as_wanted => Vec::new(),
        FileProblem::Behind => vec![projection_behind_finding(path, commands[1])],
        FileProblem::Damaged => vec![projection_damaged_finding(path, false, commands[1])],
        FileProblem::Gone => vec![projection_damaged_finding(path, true, commands[1])],
        FileProblem::Drift(drift) => drift
            .iter()
            .map(|own| projection_drift_finding(path, bytes, (&own.id, own.change.name()), commands))
            .collect(),
    };
    let file = |(path, problem): (ProjectPath, Option<FileProblem<DriftOf<F>>>)| {
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

/// Something that is wrong with a file of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileProblem<D> {
    /// Somebody else changed these records in it.
    Drift(Vec<D>),
    /// It is as it was written here for earlier records.
    Behind,
    Damaged,
    Gone,
}

impl<D> FileProblem<D> {
    pub(crate) fn named(self) -> (&'static str, Vec<D>) {
        match self {
            Self::Behind => ("behind", Vec::new()),
            Self::Damaged => ("damaged", Vec::new()),
            Self::Gone => ("gone", Vec::new()),
            Self::Drift(drift) => ("drift", drift),
        }
    }
}

/// Holds the files `found` of `format` against the records `state`, each by itself: `None` for one with which
/// nothing is wrong. One that is not there, and was not written here either, is left out.
pub(crate) fn problems<F: RecordFormat>(
    root: &Root,
    format: &F,
    state: &F::State,
    found: &Files,
) -> Vec<(ProjectPath, Option<FileProblem<DriftOf<F>>>)> {
    let written = WrittenFiles::of(root, format.name());
    let rendered = format.render(state);
    let base = written.last(&format.paths()).and_then(|last| format.read(&last));
    let problem = |(path, ours): (&ProjectPath, &Vec<u8>)| {
        let Some(bytes) = found.get(path) else { return Some(FileProblem::Gone) };
        if bytes == ours {
            return None;
        }
        // The others are as they should be: this one alone is compared.
        let mut files = rendered.clone();
        files.insert(path.clone(), bytes.clone());
        let Some(theirs) = format.read(&files) else { return Some(FileProblem::Damaged) };
        if format.is_same(&theirs, state) {
            return None;
        }
        if written.knows(path, FileHash::of(bytes), bytes) {
            return Some(FileProblem::Behind);
        }
        let drift = format.merge((base.as_ref(), &theirs, state), &|_| false).drift;
        // What only we changed since is not theirs.
        Some(if drift.is_empty() { FileProblem::Behind } else { FileProblem::Drift(drift) })
    };
    let is_known = |(path, _): &(&ProjectPath, &Vec<u8>)| found.contains_key(*path) || written.has(path);
    rendered.iter().filter(is_known).map(|file| (file.0.clone(), problem(file))).collect()
}
