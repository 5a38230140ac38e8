//! Where to go on: what each source says of an artifact, and which of them to believe (seed `001_…`, D4-Q5: three tiers).
//!
//! Pure: `workspace` gathers the [`ResumeReport`] tier by tier, as far as [`decide`] asks for it.

mod resume_point;
mod source_report;
mod report;
mod answer;
mod decide;

pub use answer::{ResumeAnswer, ResumeDecision};
pub use answer::{Tier, TierError};
pub use decide::decide;
pub use report::{InterruptedSession, OpenDelegation, ResumeReport};
pub use resume_point::{NextStep, NoResumePoint, ResumePoint};
pub use source_report::{SourceReport, SourceResult, StateSource};
