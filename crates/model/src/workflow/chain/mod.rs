//! The steps of one track of a workflow, and what leads from one to the next.

mod diagnosis;
mod step_chain;
mod graph;
pub(crate) mod route;
#[cfg(test)]
pub(crate) mod sample;

pub use diagnosis::ChainDiagnosis;
pub(crate) use graph::{Graph, is_alternative, mark_loops, nearest_group, same_step, start};
pub(crate) use route::{Route, RoutePosition};
pub use step_chain::{Chain, MAX_STEPS, Recording, Step, Unit};
pub(crate) use step_chain::{Edge, EdgeKind, EdgeSource};
