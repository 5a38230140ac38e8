//! Workflow definitions, their step chains, and how far an artifact has come.

mod track;
mod step_id;
mod file;
mod reference;
mod diagnosis;
mod chain;
mod graph;
mod successor;
mod route;
mod step_match;
mod next;
mod progress;
mod reading;
mod outline;
mod discovery;
mod pattern;
mod name;
mod definition;
mod context_source;
mod context;
mod candidate;
mod binding;
mod binder;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod chain_cases;
#[cfg(test)]
mod progress_cases;
#[cfg(test)]
mod binding_cases;

pub use binder::Binder;
pub use binding::{ArtifactFacts, Binding, BindingReason, ConfiguredWorkflow, StepList};
pub use candidate::Candidate;
use chain::Edge;
pub use chain::{Chain, EdgeKind, EdgeSource, MAX_STEPS, Recording, Step, Successor, Unit};
pub use context::{ContextAnswer, ContextCandidate, ContextOutcome, ContextQuery, answer_context};
pub use context_source::{
    ContextSource, ContextSourceError, ContextSourceKind, ContextStatement, context_statements,
};
pub use definition::{WorkflowDefinition, WorkflowDetail};
pub use diagnosis::ChainDiagnosis;
pub use discovery::{DEFAULT_ROOTS, discover};
pub use file::WorkflowFile;
pub use name::NameAgreement;
pub use next::{Next, UnknownNext};
pub use outline::{ChainOutline, StepOutline, WorkflowOutline};
pub use pattern::OutputPattern;
pub use progress::{
    Content, DoneItem, LastStep, Progress, StepRecord, UnknownItem, UnknownReason, WorkState,
};
pub use step_id::{StepForm, StepId, StepNumber};
pub use step_match::{MatchedBy, StepMatch};
pub use track::Track;
