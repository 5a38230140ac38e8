//! The steps of one track of a workflow, and what leads from one to the next.

pub(in crate::workflow) mod file;
pub(in crate::workflow) mod reference;
mod diagnosis;
mod step_chain;
mod graph;
pub(in crate::workflow) mod successor;
pub(in crate::workflow) mod route;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod cases;

pub use diagnosis::ChainDiagnosis;
pub use file::WorkflowFile;
pub(in crate::workflow) use step_chain::Edge;
pub use step_chain::{Chain, EdgeKind, EdgeSource, MAX_STEPS, Recording, Step, Successor, Unit};
