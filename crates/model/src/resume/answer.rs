//! What is answered.

use super::{NoResumePoint, ResumePoint, StateSource, Tier};

/// What to do with the evidence so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeDecision {
    /// It is not enough: look at this tier.
    Look(Tier),
    /// It is.
    Answer(ResumeAnswer),
    /// Everything was looked at, and it cannot be told.
    CannotTell {
        /// Why.
        reason: String,
        /// What to do.
        help: String,
    },
}

/// Where to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumeAnswer {
    /// The tier that gave it.
    pub tier: Tier,
    /// The source that is believed.
    pub source: StateSource,
    /// What it says.
    pub point: ResumePoint,
    /// Why this source.
    pub why: String,
    /// What to keep in mind.
    pub cautions: Vec<String>,
}

impl ResumeDecision {
    pub(super) fn unclear(source: &StateSource, reason: &NoResumePoint) -> Self {
        Self::CannotTell {
            reason: format!("{source} can be read, but does not tell the next step: {reason}"),
            help: reason.help().to_owned(),
        }
    }
}
