//! The comparison of the files of a format with the records, and of both with what was written last.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    ProjectionError,
    found_files::{FoundFiles, HashedFiles, hashed},
    record_format::{DriftOf, Files, Overwrite, RecordFormat},
    written_files::WrittenFiles,
};
use stepmark_model::artifact::{FileHash, ProjectPath};

/// The files that are to stand there, and what was found out about those that do.
pub(super) struct Compared<D> {
    /// Those that are to stand there; `None` where these are the files of the records.
    pub(super) files: Option<HashedFiles>,
    /// The records that other programs changed, and which stay so.
    pub(super) drift: Vec<D>,
    pub(super) overwritten: Vec<D>,
    pub(super) damaged: BTreeSet<ProjectPath>,
    /// Files that say what the records say, in other bytes: they stay.
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
) -> Result<Compared<DriftOf<F>>, ProjectionError> {
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
    let not_imported =
        || ProjectionError::NotImported { path: first.clone(), import: format.system().import };
    // What is missing in a set of files is as it was written last.
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
