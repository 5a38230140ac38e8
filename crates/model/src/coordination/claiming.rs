//! Tasks that may be claimed, and those whose holder is silent.

use std::collections::HashSet;

use jiff::Timestamp;

use super::{Record, State, dependencies::state_of, is_done};
use crate::records::{Signals, read_time};

/// The tasks that `agent` may claim at `now`, the best first: by priority, then by age.
pub fn claimable<'s>(state: &'s State, agent: &str, now: Timestamp) -> Vec<&'s Record> {
    let done: HashSet<&str> =
        state.tasks.iter().filter(|task| is_done(task)).map(|task| task.id.as_str()).collect();
    let capabilities = capabilities_of(state, agent);
    let mut tasks: Vec<&Record> = state
        .tasks
        .iter()
        .filter(|task| is(task, "available"))
        .filter(|task| task.dependencies().iter().all(|id| done.contains(id)))
        .filter(|task| task.time("next_retry_at").is_none_or(|at| at <= now))
        .filter(|task| missing_capabilities(task, &capabilities).is_empty())
        .collect();
    // The sort keeps the order of those that are alike.
    tasks.sort_by_cached_key(|task| {
        (task.effective_priority(), task.time("created_at").unwrap_or(Timestamp::MAX))
    });
    tasks
}

/// The tasks that `agent` has.
pub fn held_by<'s>(state: &'s State, agent: &str) -> Vec<&'s Record> {
    state.tasks.iter().filter(|task| task.claimed_by() == Some(agent) && is_held(task)).collect()
}

/// The tasks whose holder has given no sign of life for `stale_seconds`, nor claimed or started them since.
pub fn orphaned<'s>(
    state: &'s State,
    signals: &Signals,
    now: Timestamp,
    stale_seconds: u64,
) -> Vec<&'s Record> {
    let stale = i64::try_from(stale_seconds).unwrap_or(i64::MAX);
    let is_silent = |task: &&Record| {
        let signal = task.claimed_by().and_then(|agent| read_time(&signals.get(agent)?.at));
        let last = [task.time("claimed_at"), task.time("started_at"), signal].into_iter().flatten().max();
        // A sign from the far future was given by a clock that was wrong, and holds no longer than another.
        last.is_none_or(|last| now.as_second().saturating_sub(last.as_second()).saturating_abs() > stale)
    };
    state.tasks.iter().filter(|task| is_held(task)).filter(is_silent).collect()
}

/// Returns whether an agent has the task.
pub fn is_held(task: &Record) -> bool {
    state_of(task).is_some_and(|state| matches!(state.name.as_str(), "claimed" | "in_progress"))
}

pub(super) fn is(task: &Record, status: &str) -> bool {
    state_of(task).is_some_and(|state| state.name == status)
}

/// The capabilities of `agent`, who has none where nobody knows it.
pub(super) fn capabilities_of<'s>(state: &'s State, agent: &str) -> Vec<&'s str> {
    state.agent(agent).map(|agent| agent.capabilities("capabilities")).unwrap_or_default()
}

/// The capabilities that `task` wants and that are not among `capabilities`.
pub(super) fn missing_capabilities<'t>(task: &'t Record, capabilities: &[&str]) -> Vec<&'t str> {
    let mut wanted = task.capabilities("required_capabilities");
    wanted.retain(|wanted| !capabilities.contains(wanted));
    wanted
}
