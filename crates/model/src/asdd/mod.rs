//! The dialect of ASDD: slices that agents lead through phases, as records in artifacts, and the manifest
//! that they read before they work (docs/formats.md, "ASDD"). Pure.
//!
//! An agent proposes a change of a slice, which rests on the slice as the agent read it. A proposal is
//! committed when it contradicts nothing ([`commit`]), and else refused with the reason: the slice stays.

mod kind;
mod slice;
mod state;
mod manifest;
mod proposal;
mod refusal;
mod consistency;
mod committing;
mod failing;
mod status_change;

pub use committing::{commit, settle};
pub use consistency::{Inconsistency, PHASES, Phase, drifted, inconsistencies, phase_of, plain_name};
pub use failing::{Failure, Timeout, add_row, fail, timeouts};
pub use kind::SliceKind;
pub use manifest::{MANIFEST, ManifestError, read, render, seen};
pub use proposal::{Confidence, Conflict, Prefer, Proposal, ProposedFile, SteeringRule, Verdict, reconcile};
pub use refusal::AsddRefusal;
pub use slice::ChainEntry;
pub use state::{AsddFacts, FoundFile, Rules, SliceFacts, State, Thresholds, from_files};
pub use status_change::{change, slice_move};

pub type Record = crate::records::Record<SliceKind>;

pub static SYSTEM: crate::records::System = crate::records::System {
    name: "ASDD",
    begin: "stepmark asdd init",
    mend: "make it again from what is known with `stepmark asdd rebuild`",
    import: "stepmark import asdd",
    project: "stepmark asdd project",
};

#[cfg(test)]
mod cases;
