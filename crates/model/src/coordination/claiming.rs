//! Tasks that may be claimed, and those whose holder is silent.

use super::{Format, Record, State, TaskRefusal};
use crate::lifecycle::{Lifecycle, LifecycleState, built_in};
use crate::records::{Signals, read_time};
use jiff::Timestamp;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, LazyLock};

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

pub(super) static LIFECYCLE: LazyLock<Option<&'static Arc<Lifecycle>>> =
    LazyLock::new(|| built_in("cc-task"));

pub(super) fn state_of(task: &Record) -> Option<&'static LifecycleState> {
    LIFECYCLE.as_ref()?.state_of(task.status())
}

/// Returns whether a task is done: what failed or was cancelled is not.
pub fn is_done(task: &Record) -> bool {
    state_of(task).is_some_and(LifecycleState::is_reached_end)
}

/// The tasks that `task` waits for: those that are not done, or not there.
pub fn open_dependencies<'t>(task: &'t Record, state: &State) -> Vec<&'t str> {
    let mut open = task.dependencies();
    open.retain(|id| !state.task(id).is_some_and(is_done));
    open
}

/// The tasks that wait for `done` and for nothing else, moved to `available`.
pub fn dependants_freed(done: &str, state: &State) -> Vec<Record> {
    let done_tasks: HashSet<&str> =
        state.tasks.iter().filter(|task| is_done(task)).map(|task| task.id.as_str()).collect();
    let is_freed = |task: &&Record| {
        let waits = state_of(task).is_some_and(|state| matches!(state.name.as_str(), "pending" | "blocked"));
        let dependencies = task.dependencies();
        waits
            && dependencies.contains(&done)
            && dependencies.iter().all(|id| *id == done || done_tasks.contains(id))
    };
    let freed = state.tasks.iter().filter(is_freed).map(|task| {
        let mut task = task.clone();
        task.set("status", "available");
        task
    });
    freed.collect()
}

/// Checks the dependencies of tasks that are to be added to `state`, or to take the place of those with their
/// ids.
pub fn check_dependencies(state: &State, new: &[Record]) -> Result<(), TaskRefusal> {
    let replaced: HashSet<&str> = new.iter().map(|task| task.id.as_str()).collect();
    let kept = state.tasks.iter().filter(|task| !replaced.contains(task.id.as_str()));
    let tasks: HashMap<&str, Vec<&str>> =
        kept.chain(new).map(|task| (task.id.as_str(), task.dependencies())).collect();
    for task in new {
        if let Some(unknown) = task.dependencies().into_iter().find(|id| !tasks.contains_key(id)) {
            return Err(TaskRefusal::UnknownDependency {
                task: task.id.clone(),
                dependency: unknown.to_owned(),
            });
        }
        if let Some(circle) = circle(&task.id, |id| tasks.get(id).cloned()) {
            return Err(TaskRefusal::Circle { circle });
        }
    }
    Ok(())
}

/// The circle in which the task `id` waits for itself: its ids, the first at the end too.
pub fn dependency_circle(id: &str, state: &State) -> Option<Vec<String>> {
    circle(&state.task(id)?.id, |id| state.task(id).map(Record::dependencies))
}

/// The circle through the task `start`; `waits_for` says what a task waits for.
fn circle<'t>(start: &'t str, waits_for: impl Fn(&str) -> Option<Vec<&'t str>>) -> Option<Vec<String>> {
    let mut came_from: HashMap<&str, &str> = HashMap::new();
    let mut waiting = vec![start];
    while let Some(task) = waiting.pop() {
        for next in waits_for(task).into_iter().flatten() {
            if next == start {
                let mut circle = vec![start];
                let mut at = task;
                while at != start {
                    circle.push(at);
                    at = came_from.get(at)?;
                }
                circle.push(start);
                circle.reverse();
                return Some(circle.into_iter().map(str::to_owned).collect());
            }
            if !came_from.contains_key(next) {
                came_from.insert(next, task);
                waiting.push(next);
            }
        }
    }
    None
}

/// The facts about a coordination that its records are held against.
#[derive(Clone, Debug)]
pub struct CoordinationFacts {
    pub state: State,
    pub format: Format,
    /// The number of tasks that an agent may hold at once.
    pub claims_per_agent: usize,
    /// The ids of tasks whose agents are silent for too long.
    pub orphaned: BTreeSet<String>,
}

impl CoordinationFacts {
    /// The tasks that `task` depends on and that are there, but not done.
    pub(crate) fn undone<'t>(&self, task: &'t Record) -> Vec<&'t str> {
        let mut undone = task.dependencies();
        undone.retain(|id| self.state.task(id).is_some_and(|task| !is_done(task)));
        undone
    }

    /// The other tasks of the agent that has `task`, where it has more than it may and they come first.
    pub(crate) fn held_before(&self, task: &Record) -> Option<(&str, Vec<&str>)> {
        let held = held_by(&self.state, task.claimed_by()?);
        let place = held.iter().position(|held| held.id == task.id)?;
        let before = held[..place].iter().map(|held| held.id.as_str()).collect();
        (place >= self.claims_per_agent).then_some((held[place].claimed_by()?, before))
    }
}
