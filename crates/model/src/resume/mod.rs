//! The point to resume work at: reports of sources, and the choice of one.
//!
//! Pure: the store gathers the [`ResumeReport`] tier by tier, as far as [`ResumeReport::wanted`] asks.

mod report;
mod verdict;

pub use report::{InterruptedSession, OpenDelegation, ResumeReport, Tier};
pub use report::{SourceReport, SourceResult, StateSource};
pub use verdict::{NextStep, NoResumePoint, ResumeAnswer, ResumeDecision, ResumePoint};
