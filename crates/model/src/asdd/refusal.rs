//! A reason why a change of a slice is refused.

use super::{Conflict, Inconsistency};
use crate::artifact::FileHash;

/// A reason why a change of a slice is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AsddRefusal {
    /// The slice says something else by now than the agent read.
    #[error("the slice `{slice}` has changed since `{agent}` read it")]
    Outdated {
        /// The slice.
        slice: String,
        /// The agent.
        agent: String,
        /// The digest of the slice now.
        now: FileHash,
    },
    /// The slice and the files of the project contradict each other.
    #[error("STATE_INCONSISTENCY in `{slice}`: {}", texts(found))]
    Inconsistent {
        /// The slice.
        slice: String,
        /// The contradictions.
        found: Vec<Inconsistency>,
    },
    /// Files were changed without a proposal.
    #[error("STATE_DRIFT in `{slice}`: {} changed since it was accepted", texts(paths))]
    Drift {
        /// The slice.
        slice: String,
        /// The files.
        paths: Vec<String>,
    },
    /// Somebody changed the slice in the manifest.
    #[error("STATE_DRIFT in `{slice}`: another program changed it in the manifest")]
    ManifestDrift {
        /// The slice.
        slice: String,
    },
    /// The slice is blocked, locked, or waits for a tech lead.
    #[error("the slice `{slice}` is held up: {reason}")]
    Halted {
        /// The slice.
        slice: String,
        /// The reason.
        reason: String,
    },
    /// The slice cannot go from one state into the other.
    #[error("`{slice}` cannot go from {from} to {to}")]
    Move {
        /// The slice.
        slice: String,
        /// The status.
        from: String,
        /// The wanted status.
        to: String,
        /// The states into which it can go.
        legal: Vec<String>,
    },
    /// The gate of the phase is closed.
    #[error("`{slice}` may not leave {phase}: {reason}")]
    Gate {
        /// The slice.
        slice: String,
        /// The phase.
        phase: String,
        /// The condition that does not hold.
        reason: String,
    },
    /// A tech lead has not approved the state.
    #[error("`{slice}` may not go to {to}: no tech lead has approved it")]
    NotApproved {
        /// The slice.
        slice: String,
        /// The state.
        to: String,
    },
    /// A file is not there.
    #[error("there is no file `{path}` in the project")]
    NoFile {
        /// The path.
        path: String,
    },
    /// A file is no work of an agent.
    #[error("`{path}` belongs to git, to stepmark or to the records of ASDD, and is no work on a slice")]
    NoWork {
        /// The path.
        path: String,
    },
    /// A proposal is too large to be kept.
    #[error("a proposal of {size} bytes is wanted, and {limit} is the most: long text belongs in a file")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The most, in bytes.
        limit: u64,
    },
    /// A file is not the one that was proposed.
    #[error("`{path}` is not the file that was proposed")]
    File {
        /// The file.
        path: String,
    },
    /// A confidence names no reasons of doubt.
    #[error("a confidence of {score} below 0.95 names what the agent is not sure of")]
    FactorsMissing {
        /// The confidence.
        score: f64,
    },
    /// A confidence is none.
    #[error("a confidence is a number from 0 to 1, and {score} is none")]
    Score {
        /// The number.
        score: f64,
    },
    /// The agent stands in the chain.
    #[error("`{agent}` has an entry in the confidence chain of `{slice}`")]
    TwiceInChain {
        /// The slice.
        slice: String,
        /// The agent.
        agent: String,
    },
    /// Somebody else has decided on the proposal.
    #[error("somebody else has decided on `{proposal}`")]
    Decided {
        /// The proposal.
        proposal: String,
    },
    /// A phase is no word.
    #[error("the phase that comes next is a word, and `status` is {found}")]
    Phase {
        /// The value, as JSON.
        found: String,
    },
    /// A key is not to be proposed.
    #[error("`{key}` is not changed by a proposal")]
    Key {
        /// The key.
        key: String,
    },
    /// Proposals contradict each other.
    #[error("the proposals for `{slice}` contradict each other: {}", texts(conflicts))]
    Conflict {
        /// The slice.
        slice: String,
        /// The keys of which they say something else.
        conflicts: Vec<Conflict>,
    },
    /// The status does not allow it.
    #[error("`{slice}` is {status}: {wanted} is wanted")]
    Status {
        /// The slice.
        slice: String,
        /// The status.
        status: String,
        /// The wanted one.
        wanted: &'static str,
    },
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
