//! A format in which records are kept for other programs, and what becomes of its files.

use std::collections::{BTreeMap, BTreeSet};

use super::ProjectionError;
use stepmark_model::{
    artifact::ProjectPath,
    records::{Drift, Merged, RecordSet, System, merge},
};

pub(crate) type Files = BTreeMap<ProjectPath, Vec<u8>>;

/// The change of a record that another program made in a file of `F`.
pub(crate) type DriftOf<F> = Drift<<<F as RecordFormat>::State as RecordSet>::Kind>;

/// A format in which the records of a system are kept for its other programs.
pub(crate) trait RecordFormat {
    type State: RecordSet;
    type Error: From<ProjectionError>;

    fn name(&self) -> &'static str;

    fn system(&self) -> &'static System;

    fn paths(&self) -> Vec<ProjectPath>;

    fn locks(&self) -> Vec<ProjectPath> {
        Vec::new()
    }

    fn present(&self) -> Result<Self::State, Self::Error>;

    fn render(&self, state: &Self::State) -> Files;

    fn read(&self, files: &Files) -> Option<Self::State>;

    /// The records as a reader of the format sees them.
    fn seen(&self, state: &Self::State) -> Self::State;

    fn is_same(&self, one: &Self::State, other: &Self::State) -> bool {
        self.merge((None, one, other), &|_| false).drift.is_empty()
    }

    /// Puts `theirs`, which another program wrote, together with `ours`; `base` is what both come from, where
    /// that is known. Records of which `is_overwritten` says so are ours.
    fn merge(
        &self,
        (base, theirs, ours): (Option<&Self::State>, &Self::State, &Self::State),
        is_overwritten: &dyn Fn(&str) -> bool,
    ) -> Merged<Self::State> {
        merge((base, theirs), (ours, &self.seen(ours)), is_overwritten)
    }
}

/// The records whose changes in the files are given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overwrite {
    None,
    Records(BTreeSet<String>),
    All,
}

impl Overwrite {
    pub(super) fn holds(&self, id: &str) -> bool {
        match self {
            Self::None => false,
            Self::Records(ids) => ids.contains(id),
            Self::All => true,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed<D> {
    pub written: Vec<ProjectPath>,
    /// The records that other programs changed in the files, and which stay there as they are.
    pub drift: Vec<D>,
    pub overwritten: Vec<D>,
    /// Files that could not be read any more and were made again; the path of what stood there, in the local
    /// state of this clone.
    pub kept: Vec<String>,
    /// The reason why the files do not say yet what the records say; the records are changed all the same.
    pub behind: Option<String>,
}

impl<D> Default for Followed<D> {
    fn default() -> Self {
        Self {
            written: Vec::new(),
            drift: Vec::new(),
            overwritten: Vec::new(),
            kept: Vec::new(),
            behind: None,
        }
    }
}
