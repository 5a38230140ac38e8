//! What is answered.

use super::{Outlook, Source, Tier, Unclear};

/// What to do with the evidence so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is not enough: look at this tier.
    Look(Tier),
    /// It is.
    Answer(Answer),
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
pub struct Answer {
    /// The tier that gave it.
    pub tier: Tier,
    /// The source that is believed.
    pub source: Source,
    /// What it says.
    pub outlook: Outlook,
    /// Why this source.
    pub why: String,
    /// What to keep in mind.
    pub cautions: Vec<String>,
}

impl Verdict {
    pub(super) fn unclear(source: &Source, reason: &Unclear) -> Self {
        Self::CannotTell {
            reason: format!("{source} can be read, but does not tell the next step: {reason}"),
            help: reason.help().to_owned(),
        }
    }
}
