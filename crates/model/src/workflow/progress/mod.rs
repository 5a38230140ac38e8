//! Progress of an artifact in its workflow, and its next step.

mod next;
mod record;
mod reading;
#[cfg(test)]
mod cases;

pub use next::{Next, UnknownNext};
pub use reading::{MatchedBy, StepMatch};
pub use record::{Content, DoneItem, LastStep, Progress, StepRecord, UnknownItem, UnknownReason, WorkState};
