//! ASDD: slices that agents take through phases, as records in artifacts, and the manifest that agents read
//! before they work (docs/formats.md, "ASDD"). Pure.
//!
//! An agent's proposal rests on the slice as the agent read it. [`commit`] applies it if nothing contradicts
//! it, else refuses it with the reason; the slice is not changed.

mod state;
mod proposal;
mod committing;
mod failing;

pub use committing::{AsddRefusal, change, commit, settle, slice_move};
pub use failing::{
    Failure, Inconsistency, PHASES, Phase, Timeout, add_row, drifted, fail, inconsistencies, phase_of,
    plain_name, timeouts,
};
pub use proposal::{
    Confidence, Conflict, MANIFEST, ManifestError, Prefer, Proposal, ProposedFile, SteeringRule, Verdict,
    read, reconcile, render, seen,
};
pub use state::{
    AsddFacts, ChainEntry, FoundFile, Rules, SliceFacts, SliceKind, State, Thresholds, from_files,
};

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
