//! The steps of one track of a workflow, and what leads from one to the next.

mod step_chain;
pub(crate) mod graph;
#[cfg(test)]
pub(crate) mod sample;

pub use graph::ChainDiagnosis;
pub(crate) use graph::{Graph, is_alternative, mark_loops, nearest_group, same_step, start};
pub(crate) use graph::{Route, RoutePosition};
pub use step_chain::{Chain, MAX_STEPS, Recording, Step, Unit};
pub(crate) use step_chain::{Edge, EdgeKind, EdgeSource};
