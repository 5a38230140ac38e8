//! Binding of an artifact to the workflow that wrote it.

mod pattern;
mod name;
mod candidate;
mod reason;
mod binder;
#[cfg(test)]
mod cases;

pub use binder::Binder;
pub use candidate::Candidate;
pub use name::NameAgreement;
pub use pattern::OutputPattern;
pub use reason::{ArtifactFacts, Binding, BindingReason, ConfiguredWorkflow, StepList};
