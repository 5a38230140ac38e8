//! How an artifact was, and what history says of its way from there.

use crate::{artifact::Artifact, lifecycle::Lifecycle, workflow::Progress};

/// An artifact as it was in the commit that a change starts from.
#[derive(Clone, Copy)]
pub struct BaseVersion<'a> {
    /// It then.
    pub artifact: &'a Artifact,
    /// How far it had come, where its workflow is known.
    pub progress: Option<&'a Progress<'a>>,
    /// The lifecycle of its status, where one is known.
    pub lifecycle: Option<&'a Lifecycle>,
    /// What history says; `None`: it was not asked, and accepts nothing.
    pub accepted: Option<&'a dyn AcceptedLosses>,
}

/// What history says of a change. The newest word on a matter counts.
pub trait AcceptedLosses {
    /// Whether somebody took this away through stepmark, so that history knows who and why.
    fn accepts(&self, loss: &Loss<'_>) -> bool;

    /// Whether something was accepted by what the newer state of the repository does not hold, so that whoever gets that state cannot see
    /// why. Asked after all that may be accepted.
    fn is_missing(&self) -> bool {
        false
    }
}

/// Something that an artifact said and does not say any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss<'a> {
    /// A completed step: accepted if it was reopened, or an earlier state was put back.
    Step {
        /// The key of its list.
        list: &'a str,
        /// How the list spelled it.
        spelling: &'a str,
    },
    /// The value of a key of the root.
    Value {
        /// The key.
        key: &'a str,
    },
}

impl BaseVersion<'_> {
    /// Whether history accepts the loss.
    pub(crate) fn accepts(&self, loss: Loss<'_>) -> bool {
        self.accepted.is_some_and(|accepted| accepted.accepts(&loss))
    }
}
