//! Findings: what is wrong with an artifact, where, and how to fix it.
//!
//! A rule is a value with a function beside it; [`RULES`] lists them. Rules look at a [`Subject`], which
//! whoever checks has filled with what is known around the artifact, and never at a file.

mod rule;
mod finding;
mod fixing;
mod subject;
pub mod rules;
mod registry;
mod policy;
mod baseline;

use crate::autodev::keeps_state;
pub use crate::journal::Loss;
pub use baseline::{Baseline, BaselineError};
pub use finding::{Finding, Fix, ProblemCounts, Safety, Severity};
pub use fixing::{DeclineReason, Declined, FixedFile, Remedy, apply_fixes};
pub use policy::{Allowance, Judged, Level, LevelError, Levels, Policy};
pub use registry::{RULES, pages, rule_of};
pub use rule::{Group, Rule};
pub use subject::{AcceptedLosses, BaseVersion, ManifestRow, RuleEnvironment, Subject};

use rule::Decision;

pub fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let is_of_autodev = keeps_state(subject.artifact.path());
    for rule in RULES.iter().filter(|rule| rule.group != Group::Autodev || is_of_autodev) {
        rule.look_at(subject, &mut found);
    }
    found.sort_by_key(|finding| (finding.span, finding.rule.id));
    found
}

pub fn deletion_findings(subject: &Subject<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for rule in RULES {
        if let Decision::WhenDeleted(check) = rule.decision {
            check(subject, &mut found);
        }
    }
    found
}
