//! Findings: what is wrong with an artifact, where, and how to mend it.

mod delegation;
mod diagnoses;
mod finding;
mod progress;

pub use delegation::chain_findings;
pub use finding::{Finding, Severity};

use crate::{artifact::Artifact, workflow::Progress};

/// What is wrong with `artifact`, by itself and, where its workflow is known, against that; in file order.
pub fn findings(artifact: &Artifact, progress: Option<&Progress<'_>>) -> Vec<Finding> {
    let mut found = diagnoses::findings(artifact);
    found.extend(progress.into_iter().flat_map(|progress| progress::findings(artifact, progress)));
    found.sort_by(|one, other| (one.span, one.rule).cmp(&(other.span, other.rule)));
    found
}
