//! Guards about values of the artifact itself, at any depth.

use serde_json::Value as Json;

use super::{Guard, guard::value_at};
use crate::artifact::Artifact;

/// The word of a verifier that passes an attempt.
const PASS: &str = "PASS";

impl Guard {
    /// The reason why a guard about the values of `artifact` does not hold; `None` too for a guard about
    /// other things.
    pub fn unmet_in(&self, artifact: &Artifact) -> Option<String> {
        let state = || artifact.state_value().unwrap_or_default();
        match self {
            Self::AtLeast(key, least) => {
                let found = value_at(&state(), key).and_then(size);
                let told = || match found {
                    Some(found) => format!("`{key}` is {found}"),
                    None => format!("`{key}` is neither a number nor a list"),
                };
                let is_enough = found.is_some_and(|found| found >= f64::from(*least));
                (!is_enough).then(told)
            }
            Self::Verified => unverified(&state()),
            _ => None,
        }
    }
}

/// A number, or the number of entries of a list.
fn size(value: &Json) -> Option<f64> {
    let length = |items: &Vec<Json>| items.len() as f64;
    value.as_f64().or_else(|| value.as_array().map(length))
}

/// The reason why the last attempt is not verified.
fn unverified(state: &Json) -> Option<String> {
    let last = |key: &str| state[key].as_array().and_then(|items| items.last());
    let Some(attempt) = last("attempts").and_then(|attempt| attempt["attempt_id"].as_str()) else {
        return Some("it has no attempt".to_owned());
    };
    let verifications = state["verifications"].as_array().map(Vec::as_slice).unwrap_or_default();
    match verifications.iter().rfind(|verification| verification["attempt_id"] == attempt) {
        None => Some(format!("the attempt `{attempt}` has no verification")),
        Some(verification) if passes(verification) => None,
        Some(_) => Some(format!("the verification of the attempt `{attempt}` did not pass")),
    }
}

/// Returns whether a verification says something, and nothing that it says is against the attempt.
fn passes(verification: &Json) -> bool {
    let checks = verification["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let decision = verification["verifier"]["decision"].as_str();
    let is_passed = |check: &Json| check["passed"] == true || check["required"] == false;
    let says_something = !checks.is_empty() || decision.is_some();
    says_something && checks.iter().all(is_passed) && decision.is_none_or(|decision| decision == PASS)
}
