//! The answer to where work goes on.

use std::{fmt, str::FromStr};

use super::{NoResumePoint, ResumePoint, StateSource};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeDecision {
    Look(Tier),
    Answer(Box<ResumeAnswer>),
    /// Everything was looked at, and it cannot be told.
    CannotTell {
        reason: String,
        help: String,
    },
}

/// The point at which work goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumeAnswer {
    pub tier: Tier,
    pub source: StateSource,
    pub point: ResumePoint,
    pub why: String,
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

/// A tier of resumption, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    Frontmatter,
    Checkpoint,
    /// Everything: the journal, all checkpoints, git, delegations, other sessions.
    Everything,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no tier: 1 (frontmatter), 2 (checkpoint) or 3 (everything) is wanted")]
pub struct TierError {
    pub text: String,
}

impl Tier {
    pub const fn number(self) -> u8 {
        match self {
            Self::Frontmatter => 1,
            Self::Checkpoint => 2,
            Self::Everything => 3,
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.number(), out)
    }
}

impl FromStr for Tier {
    type Err = TierError;

    fn from_str(text: &str) -> Result<Self, TierError> {
        let tiers = [Self::Frontmatter, Self::Checkpoint, Self::Everything];
        let found = tiers.into_iter().find(|tier| tier.to_string() == text);
        found.ok_or_else(|| TierError { text: text.to_owned() })
    }
}
