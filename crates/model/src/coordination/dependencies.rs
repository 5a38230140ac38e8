//! Tasks that wait for others.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, LazyLock},
};

use super::{Record, State, TaskRefusal};
use crate::lifecycle::{Lifecycle, LifecycleState, built_in};

/// The lifecycle of tasks: it is asked for each of them.
static LIFECYCLE: LazyLock<Option<&'static Arc<Lifecycle>>> = LazyLock::new(|| built_in("cc-task"));

/// The state that the status of a task means.
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
///
/// # Errors
/// When one is no task, or tasks would wait for each other.
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
