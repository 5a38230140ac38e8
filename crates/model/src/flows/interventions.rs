//! Tasks that failed: given to a person, tried again, given up.

use super::{
    Acting, FlowKind, FlowRecord, FlowRefusal, FlowState, RecordChange, attempts::close_attempt,
    change::check_status,
};

/// Gives the task `task`, which failed, to a person.
///
/// # Errors
/// When it has not failed.
pub fn escalate(state: &FlowState, task: &str) -> Result<RecordChange, FlowRefusal> {
    let before = state.task(task)?;
    check_status(before, FlowKind::Execution, "escalate", &["FAILED"])?;
    let mut after = before.clone();
    after.set("status", "ESCALATED");
    Ok(RecordChange::new(before, after, "task-escalated"))
}

/// Returns whether the graph wants `task` to be given to a person: it failed, and none gave it up.
pub(super) fn wants_person(state: &FlowState, task: &FlowRecord) -> bool {
    let definition = state.graph.task(task.task());
    let is_given_up = || task.human_actions().last().is_some_and(|action| action.action == "abort-task");
    task.status() == "FAILED" && definition.is_some_and(|task| task.retry.escalate) && !is_given_up()
}

/// Lets the task `task`, which failed, be tried again; a person may allow more attempts.
///
/// # Errors
/// When it has not failed, its flow has ended, or no person acts.
pub fn retry(
    state: &FlowState,
    task: &str,
    max_attempts: Option<u64>,
    acting: &Acting,
) -> Result<RecordChange, FlowRefusal> {
    let before = state.task(task)?;
    check_status(before, FlowKind::Execution, "retry", &["FAILED", "ESCALATED"])?;
    acting.must_be_human("try it again", FlowKind::Execution, before)?;
    check_status(&state.flow, FlowKind::Flow, "retry", &["CREATED", "RUNNING", "PAUSED"])?;
    let (count, most) = (before.number("attempt_count"), before.number("max_attempts"));
    let most = max_attempts.unwrap_or_else(|| most.max(count + 1));
    if count >= most {
        return Err(FlowRefusal::Exhausted { task: task.to_owned(), count, most });
    }
    let mut after = before.clone();
    after.set("status", "RETRY");
    after.set("max_attempts", most);
    after.push("human_actions", acting.action("retry"));
    Ok(RecordChange::new(before, after, "retry-scheduled"))
}

/// Gives the task `task` up: it fails, and is tried no more. An attempt that is open is cut off.
///
/// # Errors
/// When it has ended, or no person acts.
pub fn abort_task(state: &FlowState, task: &str, acting: &Acting) -> Result<RecordChange, FlowRefusal> {
    let before = state.task(task)?;
    let open = &["PENDING", "READY", "RUNNING", "RETRY", "VERIFYING"];
    check_status(before, FlowKind::Execution, "abort-task", open)?;
    acting.must_be_human("abort a task", FlowKind::Execution, before)?;
    let mut after = before.clone();
    after.set("status", "FAILED");
    close_attempt(&mut after, None, None, &acting.now);
    after.set("blocking_reason", format!("given up by `{}`", acting.actor));
    after.push("human_actions", acting.action("abort-task"));
    Ok(RecordChange::new(before, after, "task-aborted"))
}

/// Takes a record as it is that was edited by other means.
///
/// # Errors
/// When no person acts.
pub fn accept(record: &FlowRecord, kind: FlowKind, acting: &Acting) -> Result<RecordChange, FlowRefusal> {
    acting.must_be_human("accept what was edited by other means", kind, record)?;
    let mut after = record.clone();
    after.push("human_actions", acting.action("accept"));
    Ok(RecordChange::new(record, after, "human-override"))
}

impl FlowState {
    /// The tasks that failed and that the graph wants a person to look at.
    pub fn to_escalate(&self) -> Vec<&FlowRecord> {
        self.tasks.iter().filter(|task| wants_person(self, task)).collect()
    }
}
