//! The facts that slices are held against.

use std::collections::{BTreeMap, BTreeSet};

use super::{Record, Rules, State};
use crate::artifact::FileHash;

/// The files that a slice names, as they are: `None` where one is not there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SliceFacts {
    /// The hashes by path.
    pub files: BTreeMap<String, Option<FileHash>>,
}

impl SliceFacts {
    /// The hash of the file at `path`; `None` where it is not there.
    pub fn hash(&self, path: &str) -> Option<FileHash> {
        self.files.get(path).copied().flatten()
    }

    /// The paths of the files that a slice names, and of those that belong to its phases although it names
    /// them not: `KEY.md` beside the others.
    pub fn paths_of(slice: &Record) -> Vec<String> {
        let named = slice.phase_files();
        let folder = named
            .iter()
            .find_map(|(_, path)| path.rsplit_once('/').filter(|(own, _)| own.contains("/specs/")));
        let named = named.iter().map(|(_, path)| (*path).to_owned());
        let beside = folder.into_iter().flat_map(|(folder, _)| {
            ["intent", "requirements", "design", "tasks"].map(|key| format!("{folder}/{key}.md"))
        });
        let traces = slice.texts("reasoning_traces").into_iter().map(str::to_owned);
        named.chain(beside).chain(traces).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// The facts about ASDD in a project that its slices are held against.
#[derive(Clone, Debug)]
pub struct AsddFacts {
    /// All records.
    pub state: State,
    /// The files that they name.
    pub files: SliceFacts,
    /// The demands of the project on its agents.
    pub rules: Rules,
    /// The agents that say they work and have been silent for too long, by slice.
    pub silent: BTreeMap<String, Vec<String>>,
}
