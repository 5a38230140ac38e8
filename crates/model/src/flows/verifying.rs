//! Verification of attempts.

use super::flow_move::{check_status, make};
use super::{
    Acting, Attempt, Check, CheckResult, Decision, Failure, FlowKind, FlowRecord, FlowRefusal, FlowState,
    OutputSummary, RecordChange, TaskDefinition, Verification, Verifier, allows,
};
use crate::{packs::MoveCall, spelling::argument};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// Defaults to the last one.
    pub attempt_id: Option<String>,
    pub checks: Vec<CheckResult>,
    pub decision: Option<Decision>,
    pub reasons: Vec<String>,
    pub confidence: Option<f64>,
    pub changed: Vec<String>,
    pub checkpoint: Option<String>,
    /// A person lets it pass, whatever checks and verifier say.
    pub is_override: bool,
}

/// Required checks decide, then the verifier; a person may override both. Failed tasks are retried as the
/// graph says, while attempts are left.
pub fn verify(
    state: &FlowState,
    task: &str,
    judgement: &Judgement,
    acting: &Acting,
) -> Result<RecordChange, FlowRefusal> {
    let before = state.task(task)?;
    check_status(before, FlowKind::Execution, "verify", &["VERIFYING"])?;
    if judgement.is_override {
        acting.must_be_human("override a verification", FlowKind::Execution, before)?;
    }
    let definition = state.definition(before)?;
    let attempt = before.attempts().pop().unwrap_or_default();
    if let Some(given) = judgement.attempt_id.as_ref().filter(|given| **given != attempt.attempt_id) {
        let (given, counts) = (given.clone(), attempt.attempt_id);
        return Err(FlowRefusal::OtherAttempt { given, counts, of: "the last one".to_owned() });
    }
    if judgement.decision.is_some() && acting.actor == format!("agent:{}", attempt.agent) {
        return Err(FlowRefusal::OwnWork { task: task.to_owned(), agent: attempt.agent });
    }
    // Unless the attempt has failed already, changes of the last checkpoint must be known.
    if !attempt.is_crashed() && before.checkpoints().last() != judgement.checkpoint.as_ref() {
        return Err(FlowRefusal::CheckpointMeanwhile { task: task.to_owned() });
    }
    let checks = checked(definition, judgement, &attempt)?;
    let violations = violations(before, &attempt, judgement);
    let failure =
        failure(&attempt, &checks, judgement).or((!violations.is_empty()).then_some(Failure::CheckFailure));
    let mut reasons = reasons(&attempt, &checks, judgement);
    reasons.extend(violations.iter().map(|path| told_violation(before, judgement, path)));
    if reasons.is_empty() && failure.is_some() {
        reasons.push("the verifier decided so".to_owned());
    }
    let verification = Verification {
        attempt_id: attempt.attempt_id.clone(),
        failure_reasons: reasons,
        checks,
        verifier: judgement.decision.map(|decision| Verifier { agent: acting.actor.clone(), decision }),
        confidence: judgement.confidence,
        decided_at: acting.now.clone(),
    };
    let mut after = before.clone();
    after.push("verifications", &verification);
    let told = |change: RecordChange| change.with("attempt", attempt.attempt_id.clone());
    let Some(failure) = failure.filter(|_| !judgement.is_override) else {
        after.set("status", "SUCCESS");
        after.unset("blocking_reason");
        if judgement.is_override {
            after.push("human_actions", acting.action("override"));
        }
        let event = if judgement.is_override { "human-override" } else { "verification-passed" };
        let change = told(RecordChange::new(before, after, event));
        // A person may also pass an unjudged attempt.
        let is_unjudged = verification.checks.is_empty() && verification.verifier.is_none();
        let is_override = judgement.is_override && (failure.is_some() || is_unjudged);
        return Ok(RecordChange { is_override, ..change });
    };
    let has_left = before.number("attempt_count") < before.number("max_attempts");
    let is_retried = definition.retry.on.contains(&failure);
    let (status, then) = match (is_retried, has_left) {
        (true, true) => ("RETRY", Some("retry-scheduled")),
        (true, false) => ("FAILED", Some("retry-limit-reached")),
        (false, _) => ("FAILED", None),
    };
    after.set("status", status);
    after.set("blocking_reason", verification.failure_reasons.join("; "));
    let mut change = told(RecordChange::new(before, after, "verification-failed"));
    if !violations.is_empty() {
        change = change.with("scope-violation", violations);
    }
    Ok(match then {
        Some(then) => change.with("then", then),
        None => change,
    })
}

/// A crashed attempt may lack results.
fn checked(
    task: &TaskDefinition,
    judgement: &Judgement,
    attempt: &Attempt,
) -> Result<Vec<CheckResult>, FlowRefusal> {
    let of = |name: &str| task.checks.iter().find(|check| check.name == name);
    let complete = |result: &CheckResult| {
        let Some(Check { command, required, .. }) = of(&result.name) else {
            return Err(FlowRefusal::UnknownCheck {
                task: task.id.clone(),
                check: result.name.clone(),
                known: task.checks.iter().map(|check| check.name.clone()).collect(),
            });
        };
        Ok(CheckResult { command: command.clone(), required: *required, ..result.clone() })
    };
    let checks = judgement.checks.iter().map(complete).collect::<Result<Vec<_>, _>>()?;
    if attempt.is_crashed() || judgement.is_override {
        return Ok(checks);
    }
    let has = |name: &str| checks.iter().any(|result| result.name == name);
    if let Some(missing) = task.checks.iter().find(|check| check.required && !has(&check.name)) {
        return Err(FlowRefusal::NoResult { task: task.id.clone(), check: missing.name.clone() });
    }
    match checks.is_empty() && judgement.decision.is_none() {
        true => Err(FlowRefusal::NoJudgement { task: task.id.clone() }),
        false => Ok(checks),
    }
}

fn failure(attempt: &Attempt, checks: &[CheckResult], judgement: &Judgement) -> Option<Failure> {
    if attempt.is_crashed() {
        return Some(Failure::Crash);
    }
    if checks.iter().any(is_failed) {
        return Some(Failure::CheckFailure);
    }
    match judgement.decision {
        Some(Decision::SoftFail) => Some(Failure::SoftFail),
        Some(Decision::HardFail) => Some(Failure::HardFail),
        Some(Decision::Pass) | None => None,
    }
}

const fn is_failed(check: &CheckResult) -> bool {
    check.required && !check.passed
}

fn reasons(attempt: &Attempt, checks: &[CheckResult], judgement: &Judgement) -> Vec<String> {
    let status =
        |status: Option<i64>| status.map_or(String::new(), |status| format!(", exit status {status}"));
    let mut reasons: Vec<String> = Vec::new();
    if attempt.is_crashed() {
        reasons.push(match attempt.exit_status {
            Some(status) => format!("the agent ended with exit status {status}"),
            None => "the agent went silent".to_owned(),
        });
    }
    let failed = checks.iter().filter(|check| is_failed(check));
    reasons.extend(failed.map(|check| {
        let tail = if check.tail.is_empty() { String::new() } else { format!(":\n{}", check.tail) };
        format!("the check `{}` failed{}{tail}", check.name, status(check.exit_status))
    }));
    reasons.extend(judgement.reasons.iter().cloned());
    reasons
}

fn told_violation(task: &FlowRecord, judgement: &Judgement, path: &String) -> String {
    let told = format!("the task may not write `{path}`, and changed it");
    match judgement.checkpoint.as_ref().filter(|_| judgement.changed.contains(path)) {
        Some(commit) => format!(
            "{told} by the checkpoint {}: take the file away in the next attempt, before its `stepmark flow checkpoint {}`",
            &commit[..commit.len().min(12)],
            argument(task.id())
        ),
        None => told,
    }
}

/// Changed files outside of the write scope; empty without a scope.
fn violations(task: &FlowRecord, attempt: &Attempt, judgement: &Judgement) -> Vec<String> {
    let scopes = task.scopes().write;
    let reported = attempt.output_summary.iter().flat_map(|summary| &summary.files_changed);
    let outside = judgement.changed.iter().chain(reported);
    let mut outside: Vec<String> =
        outside.filter(|path| !scopes.is_empty() && !allows(&scopes, path)).cloned().collect();
    outside.sort();
    outside.dedup();
    outside
}

/// In bytes of frontmatter.
const MOST_BYTES: usize = 16 * 1024;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttemptEnd {
    /// Defaults to the open one.
    pub attempt_id: Option<String>,
    pub agent: Option<String>,
    /// `None`: the agent went silent.
    pub exit_status: Option<i64>,
    pub summary: OutputSummary,
}

pub fn claim(
    state: &FlowState,
    task: &str,
    (agent, runtime): (&str, Option<&str>),
    acting: &Acting,
) -> Result<RecordChange, FlowRefusal> {
    check_status(&state.flow, FlowKind::Flow, "claim", &["RUNNING"])?;
    state.check_graph()?;
    let before = state.task(task)?;
    let count = before.number("attempt_count");
    let attempt = Attempt {
        attempt_id: format!("{}.{}", before.id(), count + 1),
        agent: agent.to_owned(),
        runtime: runtime.map(str::to_owned),
        started_at: acting.now.clone(),
        ..Attempt::default()
    };
    let attempt = serde_json::to_value(attempt).unwrap_or_default();
    make(state, Some(task), &MoveCall::new("flow", "claim").with("attempt", attempt), acting)
}

pub fn end_attempt(
    state: &FlowState,
    task: &str,
    end: &AttemptEnd,
    acting: &Acting,
) -> Result<RecordChange, FlowRefusal> {
    let before = state.task(task)?;
    check_status(before, FlowKind::Execution, "attempt end", &["RUNNING"])?;
    let open = before.open_attempt().unwrap_or_default();
    let other = |given: &str| FlowRefusal::OtherAttempt {
        given: given.to_owned(),
        counts: open.attempt_id.clone(),
        of: format!("of `{}`", open.agent),
    };
    if let Some(given) = end.attempt_id.as_deref().filter(|given| *given != open.attempt_id) {
        return Err(other(given));
    }
    if let Some(agent) = end.agent.as_deref().filter(|agent| *agent != open.agent) {
        return Err(other(agent));
    }
    let bytes = serde_json::to_string(&end.summary).map_or(0, |text| text.len());
    if bytes > MOST_BYTES {
        return Err(FlowRefusal::TooLong { bytes, most: MOST_BYTES });
    }
    let mut after = before.clone();
    after.set("status", "VERIFYING");
    let is_good = close_attempt(&mut after, end.exit_status, Some(end.summary.clone()), &acting.now);
    let event = if is_good { "attempt-completed" } else { "attempt-crashed" };
    Ok(RecordChange::new(before, after, event).with("attempt", open.attempt_id))
}

pub fn add_checkpoint(task: &FlowRecord, commit: &str) -> Result<RecordChange, FlowRefusal> {
    check_status(task, FlowKind::Execution, "checkpoint", &["RUNNING", "VERIFYING"])?;
    let attempt = task.last_attempt().unwrap_or_default().attempt_id;
    let mut after = task.clone();
    after.push("checkpoint_commits", serde_json::json!({"commit": commit, "attempt_id": attempt}));
    Ok(RecordChange::new(task, after, "checkpoint-commit").with("commit", commit))
}

pub(super) fn close_attempt(
    record: &mut FlowRecord,
    exit_status: Option<i64>,
    summary: Option<OutputSummary>,
    now: &str,
) -> bool {
    let Some(open) = record.open_attempt() else { return false };
    let summary = summary.filter(|summary| *summary != OutputSummary::default());
    let ended = Attempt { ended_at: Some(now.to_owned()), exit_status, output_summary: summary, ..open };
    record.push("attempts", &ended);
    record.unset("attempt");
    !ended.is_crashed()
}
