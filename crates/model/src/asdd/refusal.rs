//! A reason why a change of a slice is refused.

use super::{Conflict, Inconsistency};
use crate::{artifact::FileHash, lifecycle::MoveRefusal};

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AsddRefusal {
    #[error("the slice `{slice}` has changed since `{agent}` read it")]
    Outdated { slice: String, agent: String, now: FileHash },
    #[error("STATE_INCONSISTENCY in `{slice}`: {}", texts(found))]
    Inconsistent { slice: String, found: Vec<Inconsistency> },
    #[error("STATE_DRIFT in `{slice}`: {} changed since it was accepted", texts(paths))]
    Drift { slice: String, paths: Vec<String> },
    #[error("STATE_DRIFT in `{slice}`: another program changed it in the manifest")]
    ManifestDrift { slice: String },
    #[error("the slice `{slice}` is held up: {reason}")]
    Halted { slice: String, reason: String },
    #[error("`{slice}` cannot go from {from} to {to}")]
    Move { slice: String, from: String, to: String, legal: Vec<String> },
    #[error("`{slice}` may not leave {phase}: {reason}")]
    Gate {
        slice: String,
        phase: String,
        /// The condition that does not hold.
        reason: String,
    },
    #[error("`{slice}` may not go to {to}: no tech lead has approved it")]
    NotApproved { slice: String, to: String },
    #[error("there is no file `{path}` in the project")]
    NoFile { path: String },
    #[error("`{path}` belongs to git, to stepmark or to the records of ASDD, and is no work on a slice")]
    NoWork { path: String },
    #[error("a proposal of {size} bytes is wanted, and {limit} is the most: long text belongs in a file")]
    TooLarge {
        size: usize,
        /// The most, in bytes.
        limit: u64,
    },
    #[error("`{path}` is not the file that was proposed")]
    File { path: String },
    #[error("a confidence of {score} below 0.95 names what the agent is not sure of")]
    FactorsMissing { score: f64 },
    #[error("a confidence is a number from 0 to 1, and {score} is none")]
    Score { score: f64 },
    #[error("`{agent}` has an entry in the confidence chain of `{slice}`")]
    TwiceInChain { slice: String, agent: String },
    #[error("somebody else has decided on `{proposal}`")]
    Decided { proposal: String },
    #[error("the phase that comes next is a word, and `status` is {found}")]
    Phase { found: String },
    #[error(transparent)]
    Wrong(Box<MoveRefusal>),
    #[error("`{key}` is not changed by a proposal")]
    Key { key: String },
    #[error("the proposals for `{slice}` contradict each other: {}", texts(conflicts))]
    Conflict { slice: String, conflicts: Vec<Conflict> },
    #[error("`{slice}` is {status}: {wanted} is wanted")]
    Status { slice: String, status: String, wanted: String },
}

fn texts(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl AsddRefusal {
    /// Returns whether it may pass, so that a proposal goes on waiting: it says nothing against the proposal.
    pub const fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Decided { .. }
                | Self::Halted { .. }
                | Self::Status { .. }
                | Self::Drift { .. }
                | Self::ManifestDrift { .. }
                | Self::Inconsistent { .. }
                | Self::NotApproved { .. }
                | Self::Conflict { .. }
        )
    }
}
