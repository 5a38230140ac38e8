//! Findings: problems of an artifact, with position and fix.
//!
//! A rule is a value with a function; [`RULES`] lists them. Rules see only a [`Subject`], filled by the
//! caller, never a file.

mod rule;
mod finding;
mod fixing;
pub mod rules;
mod policy;

use crate::autodev::keeps_state;
pub use crate::journal::Loss;
pub use finding::{Baseline, BaselineError, Finding, Fix, ProblemCounts, Safety, Severity};
pub use fixing::{
    AcceptedLosses, BaseVersion, DeclineReason, Declined, FixedFile, ManifestRow, Remedy, RuleEnvironment,
    Subject, apply_fixes,
};
pub use policy::{Allowance, Judged, Level, LevelError, Levels, Policy};
pub use rule::{Group, RULES, Rule, pages, rule_of};

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
