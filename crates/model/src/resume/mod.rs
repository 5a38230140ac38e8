//! The point at which work goes on: the report of each source, and the choice of one.
//!
//! Pure: the store gathers the [`ResumeReport`] tier by tier, as far as [`ResumeReport::wanted`] asks for it.

mod report;
mod verdict;

pub use report::{InterruptedSession, OpenDelegation, ResumeReport, Tier};
pub use report::{SourceReport, SourceResult, StateSource};
pub use verdict::{NextStep, NoResumePoint, ResumeAnswer, ResumeDecision, ResumePoint};
