//! Workflow definitions, step chains, and progress.

mod step_id;
mod chain;
mod progress;
pub(crate) mod definition;
mod context;
mod binding;

pub use binding::{
    ArtifactFacts, Binder, Binding, BindingReason, Candidate, ConfiguredWorkflow, NameAgreement,
    OutputPattern, StepList,
};
#[cfg(test)]
pub(crate) use chain::sample;
pub use chain::{Chain, ChainDiagnosis, MAX_STEPS, Recording, Step, Unit};
pub(crate) use chain::{
    Edge, EdgeKind, EdgeSource, Graph, Route, RoutePosition, is_alternative, mark_loops, nearest_group,
    same_step, start,
};
pub use context::{
    ContextAnswer, ContextCandidate, ContextOutcome, ContextQuery, ContextSource, ContextSourceError,
    ContextSourceKind, ContextStatement, answer_context, context_statements,
};
pub use definition::{ChainOutline, StepOutline, Track, WorkflowDefinition, WorkflowDetail, WorkflowOutline};
pub use progress::{
    Content, DoneItem, LastStep, MatchedBy, Next, Progress, StepMatch, StepRecord, UnknownItem, UnknownNext,
    UnknownReason, WorkState,
};
pub use step_id::{StepForm, StepId, StepNumber};
