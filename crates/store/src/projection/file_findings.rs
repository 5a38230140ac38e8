//! The state of files written from records, and a check's findings in them.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    found_files::{FoundFiles, HashedFiles, hashed},
    pack_files::{DriftOf, Files, Overwrite, RecordFormat},
    publish::WrittenFiles,
};
use crate::{Error, disk::Root, git::GitVersion};
use stepmark_model::{
    artifact::{FileHash, ProjectPath},
    check::{
        Finding,
        rules::systems::{projection_behind_finding, projection_damaged_finding, projection_drift_finding},
    },
};

pub(crate) struct FileFindings {
    pub(crate) path: ProjectPath,
    pub(crate) bytes: Vec<u8>,
    pub(crate) findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowingFile {
    pub path: ProjectPath,
    /// `current`, `behind`, `drift`, `damaged` or `gone`.
    pub state: &'static str,
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
) -> Result<Option<Files>, Error> {
    for path in format.paths() {
        is_touched = is_touched || version.is_changed(&path)?;
    }
    if !is_touched {
        return Ok(None);
    }
    let files = version.files_in((folder, |_| true), false)?.into_iter();
    Ok(Some(files.filter(|(path, _)| path.extension() == Some("md")).collect()))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileProblem<D> {
    /// Others changed these records in it.
    Drift(Vec<D>),
    /// Unchanged since we wrote it for earlier records.
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

/// Compares each of `found` with the records; `None`: no fault. Leaves out missing files that were not
/// written here either.
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
        // Compares this one alone.
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
        // Our own later changes are not theirs.
        Some(if drift.is_empty() { FileProblem::Behind } else { FileProblem::Drift(drift) })
    };
    let is_known = |(path, _): &(&ProjectPath, &Vec<u8>)| found.contains_key(*path) || written.has(path);
    rendered.iter().filter(is_known).map(|file| (file.0.clone(), problem(file))).collect()
}

pub(super) struct Compared<D> {
    /// `None` if they are the records' files.
    pub(super) files: Option<HashedFiles>,
    /// Records changed by other programs, which stay so.
    pub(super) drift: Vec<D>,
    pub(super) overwritten: Vec<D>,
    pub(super) damaged: BTreeSet<ProjectPath>,
    /// Files that agree with the records in other bytes; they stay.
    pub(super) adopted: BTreeMap<ProjectPath, FileHash>,
}

pub(super) fn foreign<'f>(
    found: &'f FoundFiles,
    written: &WrittenFiles<'_>,
) -> impl Iterator<Item = (&'f ProjectPath, FileHash)> {
    let foreign = found.iter().filter(|(path, found)| !written.knows(path, found.hash, &found.bytes));
    foreign.map(|(path, found)| (path, found.hash))
}

pub(super) fn compare<F: RecordFormat>(
    format: &F,
    ours: &F::State,
    (found, written): (&FoundFiles, &WrittenFiles<'_>),
    overwrite: &Overwrite,
) -> Result<Compared<DriftOf<F>>, Error> {
    let mut compared = Compared {
        files: None,
        drift: Vec::new(),
        overwritten: Vec::new(),
        damaged: BTreeSet::new(),
        adopted: BTreeMap::new(),
    };
    let mut foreign: BTreeMap<ProjectPath, FileHash> =
        foreign(found, written).map(|(path, hash)| (path.clone(), hash)).collect();
    let Some(first) = foreign.keys().next().cloned() else { return Ok(compared) };
    let not_imported = || {
        let import = format.system().import;
        Error::refused(format!(
            "`{first}` was written by another program: bring it in with `{import}`, or move it away"
        ))
    };
    // A missing file of a set counts as last written.
    let last = written.last(&format.paths()).unwrap_or_default();
    let base = format.read(&last);
    let bytes = |path: &ProjectPath| found.get(path).map(|found| found.bytes.clone()).unwrap_or_default();
    if base.is_some() {
        foreign.retain(|path, _| {
            let mut with = last.clone();
            with.insert(path.clone(), bytes(path));
            let is_readable = format.read(&with).is_some();
            compared.damaged.extend((!is_readable).then(|| path.clone()));
            is_readable
        });
    }
    let mut readable: Files = last;
    let is_readable = |(path, _): &(&ProjectPath, _)| !compared.damaged.contains(*path);
    readable
        .extend(found.iter().filter(is_readable).map(|(path, found)| (path.clone(), found.bytes.clone())));
    let theirs = format.read(&readable).ok_or_else(not_imported)?;
    if format.is_same(&theirs, ours) {
        // Another clone or build wrote the same.
        compared.adopted = foreign;
        return Ok(compared);
    }
    let merged = format.merge((base.as_ref(), &theirs, ours), &|id| overwrite.holds(id));
    (compared.overwritten, compared.drift) =
        merged.drift.into_iter().partition(|drift| overwrite.holds(&drift.id));
    if base.is_none() && !compared.drift.is_empty() {
        return Err(not_imported());
    }
    compared.files = Some(hashed(format.render(&merged.state)));
    Ok(compared)
}
