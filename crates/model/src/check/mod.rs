//! Findings: problems of an artifact, with position and fix.
//!
//! A rule is a value with a function; [`RULES`] lists them. Rules see only a [`Subject`], filled by the
//! caller, never a file.

mod rule;
mod finding;
mod fixing;
pub mod rules;
mod policy;
mod registry;

pub use crate::journal::Loss;
pub use finding::{Baseline, BaselineError, Finding, Fix, ProblemCounts, Safety, Severity};
pub use fixing::{
    AcceptedLosses, BaseVersion, DeclineReason, Declined, FixedFile, ManifestRow, Remedy, RuleEnvironment,
    Subject, apply_fixes,
};
pub use policy::{Allowance, Judged, Level, LevelError, Levels, Policy};
pub use registry::{RULES, deletion_findings, findings, pages, rule_of};
pub use rule::{Group, Rule};
