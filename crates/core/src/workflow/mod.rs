//! Workflow definitions, their step chains, and how far an artifact has come.

mod track;
mod step_id;
mod source;
mod reference;
mod diagnosis;
mod chain;
mod graph;
mod route;
mod step_match;
mod progress;
mod outline;
mod discovery;
mod pattern;
mod name;
mod definition;
mod binding;

pub use binding::{ArtifactFacts, Binder, Binding, Candidate, ConfiguredWorkflow, Evidence, StepList};
pub use chain::{Chain, EdgeKind, EdgeSource, MAX_STEPS, Recording, Step, Successor, Unit};
use chain::Edge;
pub use definition::{WorkflowDefinition, WorkflowDetail};
pub use diagnosis::ChainDiagnosis;
pub use discovery::{DEFAULT_ROOTS, discover};
pub use name::NameAgreement;
pub use outline::{ChainOutline, StepOutline, WorkflowOutline};
pub use pattern::OutputPattern;
pub use progress::{
    Content, DoneItem, LastStep, Next, Progress, Standing, StepRecord, UnknownItem, UnknownNext, UnknownReason,
};
pub use source::StepSource;
pub use step_id::{StepForm, StepId, StepNumber};
pub use step_match::{MatchedBy, StepMatch};
pub use track::Track;
