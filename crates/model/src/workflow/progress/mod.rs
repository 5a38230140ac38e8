//! How far an artifact has come in its workflow, and what comes next.

mod step_match;
mod next;
mod record;
mod reading;
#[cfg(test)]
mod cases;

pub use next::{Next, UnknownNext};
pub use record::{Content, DoneItem, LastStep, Progress, StepRecord, UnknownItem, UnknownReason, WorkState};
pub use step_match::{MatchedBy, StepMatch};
