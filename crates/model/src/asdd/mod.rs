//! The dialect of ASDD: slices that agents lead through phases, as records in artifacts, and the manifest
//! that they read before they work (docs/formats.md, "ASDD"). Pure.
//!
//! An agent proposes a change of a slice, which rests on the slice as the agent read it. A proposal is
//! committed when it contradicts nothing ([`commit`]), and else refused with the reason: the slice stays.

mod kind;
mod slice;
mod state;
mod phase;
mod settings;
mod manifest;
mod proposal;
mod facts;
mod refusal;
mod consistency;
mod gate;
mod committing;
mod conflict;
mod failing;
mod failure_log;
mod status_change;
mod rebuilding;
mod timeout;

pub use committing::{commit, settle};
pub use conflict::{Conflict, Prefer, SteeringRule, reconcile};
pub use consistency::{Inconsistency, drifted, inconsistencies};
pub use facts::{AsddFacts, SliceFacts};
pub use failing::{Failure, fail};
pub use failure_log::add_row;
pub use kind::SliceKind;
pub use manifest::{MANIFEST, ManifestError, read, render, seen};
pub use phase::{PHASES, Phase, phase_of, plain_name};
pub use proposal::{Confidence, Proposal, ProposedFile, Verdict};
pub use rebuilding::{FoundFile, from_files};
pub use refusal::AsddRefusal;
pub use settings::{Rules, Thresholds};
pub use slice::ChainEntry;
pub use state::State;
pub use status_change::{SliceChange, change};
pub use timeout::{Timeout, timeouts};

/// A record of ASDD.
pub type Record = crate::records::Record<SliceKind>;

#[cfg(test)]
mod cases;
