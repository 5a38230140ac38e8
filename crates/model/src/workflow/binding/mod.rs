//! Binding of an artifact to the workflow that wrote it.

mod pattern;
mod candidate;
mod binder;
#[cfg(test)]
mod cases;

pub use binder::Binder;
pub use candidate::{ArtifactFacts, Binding, BindingReason, Candidate, ConfiguredWorkflow, StepList};
pub use pattern::{NameAgreement, OutputPattern};
