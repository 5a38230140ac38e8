//! The point at which work goes on: the report of each source, and the choice of one.
//!
//! Pure: `workspace` gathers the [`ResumeReport`] tier by tier, as far as [`decide`] asks for it.

mod resume_point;
mod source_report;
mod report;
mod answer;
mod decide;

pub use answer::{ResumeAnswer, ResumeDecision, Tier, TierError};
pub use decide::decide;
pub use report::{InterruptedSession, OpenDelegation, ResumeReport};
pub use resume_point::{NextStep, NoResumePoint, ResumePoint};
pub use source_report::{SourceReport, SourceResult, StateSource};
