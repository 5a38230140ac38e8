//! The part of history that two states of a repository hold.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet, HashMap},
};

use crate::git::GitVersion;
use crate::history::{HistoryError, files_of_segment, packed_segments};
use crate::workspace::Workspace;
use stepmark_model::journal::{EventId, SegmentName};

/// The segments that a version and the state before it hold; each is looked for once.
pub(crate) struct HeldHistory<'v> {
    workspace: &'v Workspace,
    version: &'v GitVersion,
    /// The packs of the work tree, by their paths.
    packs: OnceCell<BTreeMap<String, BTreeSet<SegmentName>>>,
    known: RefCell<HashMap<(SegmentName, Side), bool>>,
}

/// One of two states of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    Before,
    Now,
}

impl<'v> HeldHistory<'v> {
    pub(crate) fn new(workspace: &'v Workspace, version: &'v GitVersion) -> Self {
        Self { workspace, version, packs: OnceCell::new(), known: RefCell::default() }
    }

    /// The newer state.
    pub(crate) const fn version(&self) -> &'v GitVersion {
        self.version
    }

    /// Returns whether the older state holds an event.
    ///
    /// # Errors
    /// When history cannot be read.
    pub(crate) fn before(&self, event: EventId) -> Result<bool, HistoryError> {
        self.holds(event, Side::Before)
    }

    /// Returns whether the newer state holds an event.
    ///
    /// # Errors
    /// When history cannot be read.
    pub(crate) fn now(&self, event: EventId) -> Result<bool, HistoryError> {
        self.holds(event, Side::Now)
    }

    fn holds(&self, event: EventId, side: Side) -> Result<bool, HistoryError> {
        let segments = self.workspace.history().ask(|history| history.segments_of(event))?;
        Ok(segments.into_iter().any(|segment| self.holds_segment(segment, side)))
    }

    /// Returns whether a state holds a segment: sealed, compressed, or in a pack.
    fn holds_segment(&self, segment: SegmentName, side: Side) -> bool {
        let key = (segment, side);
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let packs = self.packs.get_or_init(|| packed_segments(self.workspace.root()).unwrap_or_default());
        // Where git fails here it has failed for the artifacts already, which is an error.
        let is_held = files_of_segment(&key.0, packs).any(|path| match side {
            Side::Before => self.version.held_before(&path).unwrap_or(false),
            Side::Now => self.version.holds(&path).unwrap_or(true),
        });
        self.known.borrow_mut().insert(key, is_held);
        is_held
    }
}
