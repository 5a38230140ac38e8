//! The artifact in the base commit, and the losses that history accepts since.

use crate::{artifact::Artifact, journal::Loss, lifecycle::Lifecycle, tracked_artifact::TrackedArtifact};

/// An artifact as it was in the commit that a change starts from.
#[derive(Clone, Copy)]
pub struct BaseVersion<'a> {
    /// The artifact then.
    pub tracked: &'a TrackedArtifact,
    /// The losses that history accepts; `None`: none, since it was not asked.
    pub accepted: Option<&'a dyn AcceptedLosses>,
}

/// The losses that history accepts.
pub trait AcceptedLosses {
    /// Returns whether somebody took this away through stepmark, so that history knows who and why.
    fn accepts(&self, loss: &Loss<'_>) -> bool;

    /// Returns whether something was accepted by what the newer state of the repository does not hold, so
    /// that whoever gets that state cannot see why. Asked after all that may be accepted.
    fn is_missing(&self) -> bool {
        false
    }
}

impl<'a> BaseVersion<'a> {
    /// The artifact by itself.
    pub(crate) const fn artifact(&self) -> &'a Artifact {
        self.tracked.artifact()
    }

    /// The lifecycle of its status, where one is known.
    pub(crate) fn lifecycle(&self) -> Option<&'a Lifecycle> {
        Some(&self.tracked.lifecycle()?.lifecycle)
    }

    /// Returns whether history accepts the loss.
    pub(crate) fn accepts(&self, loss: Loss<'_>) -> bool {
        self.accepted.is_some_and(|accepted| accepted.accepts(&loss))
    }
}
