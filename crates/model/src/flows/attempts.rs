//! The start and the end of attempts.

use super::{
    Acting, Attempt, FlowKind, FlowRecord, FlowRefusal, FlowState, OutputSummary, RecordChange,
    change::check_status, state::CLAIMABLE,
};

/// The most bytes of a report that frontmatter keeps.
const MOST_BYTES: usize = 16 * 1024;

/// The report of an agent on the end of its attempt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttemptEnd {
    /// The attempt; the open one where nothing is said.
    pub attempt_id: Option<String>,
    /// The agent; nobody asks where nothing is said.
    pub agent: Option<String>,
    /// Its exit status; none for an agent that went silent.
    pub exit_status: Option<i64>,
    /// The report.
    pub summary: OutputSummary,
}

/// Gives the task `task` to `agent`: its next attempt begins.
///
/// # Errors
/// When the flow is not running, or the task cannot be claimed.
pub fn claim(
    state: &FlowState,
    task: &str,
    (agent, runtime): (&str, Option<&str>),
    acting: &Acting,
) -> Result<RecordChange, FlowRefusal> {
    check_status(&state.flow, FlowKind::Flow, "claim", &["RUNNING"])?;
    state.check_graph()?;
    let before = state.task(task)?;
    check_status(before, FlowKind::Execution, "claim", &CLAIMABLE)?;
    let open: Vec<String> = state.open_dependencies(before).into_iter().map(str::to_owned).collect();
    if !open.is_empty() {
        return Err(FlowRefusal::Waits { task: task.to_owned(), open });
    }
    let (count, most) = (before.number("attempt_count"), before.number("max_attempts"));
    if count >= most {
        return Err(FlowRefusal::Exhausted { task: task.to_owned(), count, most });
    }
    state.check_scopes(before)?;
    let attempt = Attempt {
        attempt_id: format!("{}.{}", before.id(), count + 1),
        agent: agent.to_owned(),
        runtime: runtime.map(str::to_owned),
        started_at: acting.now.clone(),
        ..Attempt::default()
    };
    let mut after = before.clone();
    after.set("status", "RUNNING");
    after.set("attempt_count", count + 1);
    after.set("attempt", serde_json::to_value(attempt).unwrap_or_default());
    after.unset("blocking_reason");
    Ok(RecordChange::new(before, after, "attempt-started"))
}

/// Ends the open attempt of the task `task`: it waits for its verification.
///
/// # Errors
/// When no attempt is open, it is another one or another agent's, or the report is too long.
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

/// Adds a checkpoint commit of the attempt that is open, or waits for its verification.
///
/// # Errors
/// When there is none.
pub fn add_checkpoint(task: &FlowRecord, commit: &str) -> Result<RecordChange, FlowRefusal> {
    check_status(task, FlowKind::Execution, "checkpoint", &["RUNNING", "VERIFYING"])?;
    let attempt = task.last_attempt().unwrap_or_default().attempt_id;
    let mut after = task.clone();
    after.push("checkpoint_commits", serde_json::json!({"commit": commit, "attempt_id": attempt}));
    Ok(RecordChange::new(task, after, "checkpoint-commit").with("commit", commit))
}

/// Moves the open attempt to those that have ended. Returns whether it ended well.
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
