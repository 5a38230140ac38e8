//! The parts of records: what a graph says of a task, attempts, verifications, acts of people.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::artifact::StateDigest;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskDefinition {
    pub id: String,
    #[serde(default)]
    pub title: String,
    /// The ids of tasks that have to succeed before.
    #[serde(default)]
    pub depends_on: Vec<String>,
    #[serde(default)]
    pub success_criteria: Vec<String>,
    #[serde(default)]
    pub checks: Vec<Check>,
    #[serde(default)]
    pub retry: RetryPolicy,
    #[serde(default)]
    pub required_scopes: Scopes,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub name: String,
    #[serde(default)]
    pub command: String,
    /// True if no attempt passes without it.
    #[serde(default = "yes")]
    pub required: bool,
}

/// The conditions on which a task is tried again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryPolicy {
    /// The most attempts, the first counted.
    #[serde(default = "once")]
    pub max_attempts: u64,
    /// The failures after which it is tried again.
    #[serde(default = "Failure::retried")]
    pub on: Vec<Failure>,
    /// True if a person is asked when it failed for good.
    #[serde(default)]
    pub escalate: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    CheckFailure,
    SoftFail,
    /// It ended with another exit status than 0, or its agent went silent.
    Crash,
    /// The verifier asks for no other attempt.
    HardFail,
}

/// The files that a task reads and writes: paths, folders or patterns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scopes {
    #[serde(default)]
    pub read: Vec<String>,
    #[serde(default)]
    pub write: Vec<String>,
}

/// An attempt. One that is open has neither end nor outcome; one that was cut off has an end alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Its id, which reports of it must name.
    pub attempt_id: String,
    #[serde(default)]
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    #[serde(default)]
    pub started_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// The exit status of the agent; none for an attempt that was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_summary: Option<OutputSummary>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputSummary {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub result: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_changed: Vec<String>,
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub tests: Json,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    pub attempt_id: String,
    #[serde(default)]
    pub checks: Vec<CheckResult>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<Verifier>,
    #[serde(default)]
    pub failure_reasons: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    #[serde(default)]
    pub decided_at: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The last lines that it printed, which go into the reasons of a failure.
    #[serde(skip)]
    pub tail: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    pub passed: bool,
    /// False for one that decides nothing.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i64>,
    /// The SHA-256 of what it printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_digest: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verifier {
    pub agent: String,
    pub decision: Decision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Decision {
    Pass,
    SoftFail,
    HardFail,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergePlan {
    pub target_branch: String,
    #[serde(default)]
    pub base: String,
    /// The integration commits, each on top of the one before.
    #[serde(default)]
    pub commits: Vec<String>,
    #[serde(default)]
    pub conflicts: Vec<String>,
    /// The tasks whose last attempt has no checkpoint: what it did is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HumanAction {
    pub action: String,
    #[serde(default)]
    pub actor: String,
    #[serde(default)]
    pub decided_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl MergePlan {
    /// The digest of all of it: an approval is for one plan.
    pub fn digest(&self) -> String {
        StateDigest::of(&serde_json::to_value(self).unwrap_or_default()).to_string()
    }
}

impl Attempt {
    pub fn is_crashed(&self) -> bool {
        self.ended_at.is_some() && self.exit_status != Some(0)
    }
}

impl Failure {
    /// Those after which a task is usually tried again.
    fn retried() -> Vec<Self> {
        vec![Self::CheckFailure, Self::SoftFail, Self::Crash]
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_attempts: once(), on: Failure::retried(), escalate: false }
    }
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_yes(value: &bool) -> bool {
    *value
}

const fn once() -> u64 {
    1
}
