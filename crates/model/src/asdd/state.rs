//! All records of ASDD in a project.

use super::{Record, SliceKind};
use crate::records::{RecordSet, by_kind};

/// All records of ASDD in a project, in the order of their places.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The sprint and the goals.
    pub project: Record,
    /// The slices.
    pub slices: Vec<Record>,
}

impl RecordSet for State {
    type Kind = SliceKind;

    fn from_records(records: impl IntoIterator<Item = Record>) -> Option<Self> {
        let mut by_kind = by_kind(records);
        let mut take = |kind| by_kind.remove(&kind).unwrap_or_default();
        Some(Self { project: take(SliceKind::Project).into_iter().next()?, slices: take(SliceKind::Slice) })
    }

    fn of_kind(&self, kind: SliceKind) -> &[Record] {
        match kind {
            SliceKind::Project => std::slice::from_ref(&self.project),
            SliceKind::Slice => &self.slices,
        }
    }
}

impl State {
    /// The slice with this id.
    pub fn slice(&self, id: &str) -> Option<&Record> {
        self.record(SliceKind::Slice, id)
    }

    /// Returns whether a slice has accepted the file at `path` with this hash.
    pub(super) fn accepts(&self, path: &str, hash: &str) -> bool {
        self.accepted(path).any(|accepted| accepted == hash)
    }

    /// The hashes with which slices have accepted the file at `path`.
    pub(super) fn accepted<'s>(&'s self, path: &str) -> impl Iterator<Item = &'s str> {
        self.slices.iter().filter_map(move |slice| slice.accepted(path))
    }
}
