//! Findings: what is wrong with an artifact, where, and how to mend it.

mod diagnoses;
mod finding;

pub use diagnoses::findings;
pub use finding::{Finding, Severity};
