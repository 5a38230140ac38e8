//! The reasons why a task is in its status.

use super::{FlowRecord, FlowRefusal, FlowState};

/// A task with the reasons why it is in its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The task.
    pub task: String,
    /// Its status.
    pub status: String,
    /// The reasons, the nearest first.
    pub reasons: Vec<String>,
}

/// The reasons why the task `task` is in its status: what it waits for, which check failed, who stopped it.
///
/// # Errors
/// When there is no such task.
pub fn why(state: &FlowState, task: &str) -> Result<Why, FlowRefusal> {
    let record = state.task(task)?;
    let mut reasons = Vec::new();
    match record.status() {
        "PENDING" | "READY" | "RETRY" => waiting(state, record, &mut reasons),
        "RUNNING" => {
            if let Some(attempt) = record.open_attempt() {
                reasons.push(format!(
                    "`{}` works on the attempt `{}` since {}",
                    attempt.agent, attempt.attempt_id, attempt.started_at
                ));
            }
        }
        "VERIFYING" => {
            if let Some(attempt) = record.attempts().last() {
                reasons.push(format!("the attempt `{}` waits for its verification", attempt.attempt_id));
            }
        }
        _ => {}
    }
    reasons.extend(judged(record));
    let acts = record.human_actions();
    reasons.extend(acts.iter().rev().map(|act| {
        let reason = act.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        format!("{} by `{}` at {}{reason}", act.action, act.actor, act.decided_at)
    }));
    let (task, status) = (task.to_owned(), record.status().to_owned());
    Ok(Why { task, status, reasons })
}

fn waiting(state: &FlowState, record: &FlowRecord, reasons: &mut Vec<String>) {
    if state.flow.status() != "RUNNING" {
        reasons.push(format!("the flow is `{}`", state.flow.status()));
    }
    for id in state.open_dependencies(record) {
        let other = state.tasks.iter().find(|other| other.id() == id);
        let told = other.map_or("missing", FlowRecord::status);
        let blocked = other.map(|other| other.text("blocking_reason")).filter(|text| !text.is_empty());
        let cause = blocked.map_or_else(String::new, |text| format!(": {text}"));
        reasons.push(format!("it waits for `{id}`, which is `{told}`{cause}"));
    }
    if let Err(refusal) = state.check_scopes(record) {
        reasons.push(refusal.to_string());
    }
}

/// The last judgement in words.
fn judged(record: &FlowRecord) -> Vec<String> {
    let Some(last) = record.verifications().pop() else { return Vec::new() };
    // A person, or a check that is not required, may stand against the reasons.
    let has_passed = last.failure_reasons.is_empty() || record.status() == "SUCCESS";
    let verdict = if has_passed { "passed" } else { "failed" };
    let used = format!("{} of {}", record.number("attempt_count"), record.number("max_attempts"));
    let mut told =
        vec![format!("the attempt `{}` {verdict} at {} (attempt {used})", last.attempt_id, last.decided_at)];
    told.extend(last.failure_reasons);
    let passed: Vec<&str> =
        last.checks.iter().filter(|check| check.passed).map(|check| check.name.as_str()).collect();
    if !passed.is_empty() {
        told.push(format!("checks that passed: {}", passed.join(", ")));
    }
    told
}
