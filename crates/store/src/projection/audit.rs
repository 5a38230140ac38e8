//! The problems of files that follow records, wherever both are read from; nothing is written.

use super::{
    record_format::{Files, RecordFormat},
    written_files::WrittenFiles,
};
use crate::disk::Root;
use stepmark_model::artifact::{FileHash, ProjectPath};

/// Something that is wrong with a file of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileProblem<D> {
    /// Somebody else changed these records in it.
    Drift(Vec<D>),
    /// It is as it was written here for earlier records.
    Behind,
    /// It is not of its format.
    Damaged,
    /// It was written here, and is not there.
    Gone,
}

impl<D> FileProblem<D> {
    /// Its word, and the records that somebody changed.
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
) -> Vec<(ProjectPath, Option<FileProblem<F::Drift>>)> {
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
        if written.knows(path, FileHash::of(bytes)) {
            return Some(FileProblem::Behind);
        }
        let (_, drift) = format.merge((base.as_ref(), &theirs, state), &|_| false);
        // What only we changed since is not theirs.
        Some(if drift.is_empty() { FileProblem::Behind } else { FileProblem::Drift(drift) })
    };
    let is_known = |(path, _): &(&ProjectPath, &Vec<u8>)| found.contains_key(*path) || written.has(path);
    rendered.iter().filter(is_known).map(|file| (file.0.clone(), problem(file))).collect()
}
