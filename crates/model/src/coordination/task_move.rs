//! Moves of tasks: the pack declares them; requirements on other records are here.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{Arc, LazyLock},
};

use super::{Format, Record, State};
use crate::{
    lifecycle::{Guard, Lifecycle, LifecycleState, MoveRefusal, built_in},
    packs::{MoveCall, Refused},
    records::{Signals, read_time},
    spelling::{besides, listed},
};
use jiff::{SignedDuration, Timestamp};

/// In bytes of frontmatter.
const MOST_OUTPUT: usize = 64 * 1024;

pub fn task_move(name: &str, agent: Option<&str>) -> MoveCall {
    let call = MoveCall::new("task", name);
    match agent {
        Some(agent) => call.with("agent", agent),
        None => call,
    }
}

/// Returns the record after `made`; equal if nothing changes. `now` is RFC 3339. An agent may hold `at_most`
/// tasks.
pub fn decide(
    task: &Record,
    made: &MoveCall,
    (state, at_most): (&State, usize),
    now: &str,
) -> Result<Record, TaskRefusal> {
    let Some(table) = *LIFECYCLE else { return Ok(task.clone()) };
    let call = made.clone().with("now", now);
    let unmet = |guard: &Guard| unmet(guard, task, &call, (state, at_most));
    let writes =
        table.make((task.status(), &task.values), &call, unmet).map_err(|refused| match refused {
            Refused::Guard(refusal, others) if others.is_empty() => refusal,
            Refused::Guard(refusal, others) => TaskRefusal::Several { first: Box::new(refusal), others },
            Refused::Move(refusal) => of_status(task, table, *refusal),
        })?;
    let mut after = task.clone();
    if writes.is_empty() {
        return Ok(after);
    }
    writes.into_iter().for_each(|write| write.apply(&mut after.values));
    let (count, _, key) = task.attempts();
    match made.name.as_str() {
        "claim" if task.counts_attempts() => after.set(key, count.saturating_add(1)),
        "retry" if !task.counts_attempts() => after.set(key, count.saturating_add(1)),
        _ => {}
    }
    if let ("retry", Some(delay), Some(now)) = (&*made.name, task.number("retry_delay"), read_time(now)) {
        let at = now.checked_add(SignedDuration::from_secs(delay.max(0))).unwrap_or(Timestamp::MAX);
        after.set("next_retry_at", at.to_string());
    }
    Ok(after)
}

fn of_status(task: &Record, table: &Lifecycle, refusal: MoveRefusal) -> TaskRefusal {
    let moves = state_of(task).map(|from| table.moves_from(from, None)).unwrap_or_default();
    match refusal {
        MoveRefusal::NotFrom { made, wanted, .. } => {
            let (task, status) = (task.id.clone(), task.status().to_owned());
            let legal: Vec<&str> = moves.iter().map(|legal| legal.to.name.as_str()).collect();
            let ways = match (legal.is_empty(), table.state_of(&status)) {
                (false, _) => format!("from `{status}` it goes to {}", listed(&legal)),
                (true, Some(_)) => format!("`{status}` is final"),
                (true, None) => format!("`{status}` is no status of a task"),
            };
            let reason = format!("`{made}` is for tasks that are {}: {ways}", listed(&wanted));
            TaskRefusal::Status { task, status, reason }
        }
        other => TaskRefusal::Move(Box::new(other)),
    }
}

fn unmet(
    guard: &Guard,
    task: &Record,
    call: &MoveCall,
    (state, at_most): (&State, usize),
) -> Option<TaskRefusal> {
    let (id, agent) = (task.id.clone(), call.text("agent").unwrap_or_default());
    match guard {
        Guard::DependenciesDone(_) => {
            let open: Vec<String> = open_dependencies(task, state).into_iter().map(str::to_owned).collect();
            (!open.is_empty()).then_some(TaskRefusal::Waits { task: id, open })
        }
        Guard::Holder(_) => {
            let holder = task.claimed_by().filter(|holder| *holder != agent)?.to_owned();
            Some(TaskRefusal::NotHolder { task: id, holder, agent: agent.to_owned() })
        }
        Guard::NotBefore(key) => {
            let at = task.time(key).zip(call.text("now").and_then(read_time));
            let at = at.filter(|(at, now)| at > now)?.0.to_string();
            Some(TaskRefusal::Later { task: id, at })
        }
        Guard::Code(name) => match &**name {
            "capabilities" => {
                let missing = missing_capabilities(task, &capabilities_of(state, agent));
                let missing: Vec<String> = missing.into_iter().map(str::to_owned).collect();
                let agent = agent.to_owned();
                (!missing.is_empty()).then_some(TaskRefusal::Capabilities { task: id, agent, missing })
            }
            "claims" => TaskRefusal::of_claims(state, agent, at_most),
            "output" => {
                let bytes = ["output", "error"].iter().find_map(|key| call.text(key)).map_or(0, str::len);
                (bytes > MOST_OUTPUT).then_some(TaskRefusal::OutputTooLong { bytes, most: MOST_OUTPUT })
            }
            "attempts" => {
                let (count, most, _) = task.attempts();
                let key = if task.counts_attempts() { "max_attempts" } else { "max_retries" };
                (count >= most).then_some(TaskRefusal::Exhausted { task: id, key, count, most })
            }
            _ => Some(TaskRefusal::Move(Box::new(guard.unknown_in(&call.name)))),
        },
        _ => Some(TaskRefusal::Move(Box::new(guard.unknown_in(&call.name)))),
    }
}

impl TaskRefusal {
    pub fn of_claims(state: &State, agent: &str, at_most: usize) -> Option<Self> {
        let held: Vec<String> = held_by(state, agent).into_iter().map(|held| held.id.clone()).collect();
        (held.len() >= at_most).then_some(Self::TooManyClaims { agent: agent.to_owned(), held })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskRefusal {
    #[error("the task `{task}` is `{status}`, and {reason}")]
    Status { task: String, status: String, reason: String },
    #[error("the task `{task}` waits for {}", listed(open))]
    Waits { task: String, open: Vec<String> },
    #[error("the task `{task}` may be tried again at {at}")]
    Later { task: String, at: String },
    #[error(
        "the task `{task}` wants {}, which `{agent}` does not name among its capabilities",
        listed(missing)
    )]
    Capabilities { task: String, agent: String, missing: Vec<String> },
    #[error("`{agent}` has {}: complete, fail or release one of them before", listed(held))]
    TooManyClaims { agent: String, held: Vec<String> },
    #[error("the task `{task}` is that of `{holder}`: only `{holder}` moves it, not `{agent}`")]
    NotHolder { task: String, holder: String, agent: String },
    #[error("the task `{task}` was tried {}, and `{key}` allows {most}", times(*count))]
    Exhausted { task: String, key: &'static str, count: i64, most: i64 },
    #[error("the output has {bytes} bytes, and {most} are kept: put it into a file and name that")]
    OutputTooLong { bytes: usize, most: usize },
    #[error("{first}{}", besides(others))]
    Several { first: Box<Self>, others: Vec<Self> },
    #[error(transparent)]
    Move(Box<MoveRefusal>),
    #[error("the id `{id}` is taken")]
    IdTaken { id: String },
    #[error("there is no agent `{agent}`")]
    UnknownAgent { agent: String },
    #[error("the task `{task}` depends on `{dependency}`, which is no task")]
    UnknownDependency { task: String, dependency: String },
    #[error("tasks would wait for each other: {}", circle.join(" → "))]
    Circle {
        /// The first id is repeated at the end.
        circle: Vec<String>,
    },
}

fn times(count: i64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Best first: by priority, then by age.
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
    // A stable sort keeps the order of equal tasks.
    tasks.sort_by_cached_key(|task| {
        (task.effective_priority(), task.time("created_at").unwrap_or(Timestamp::MAX))
    });
    tasks
}

pub fn held_by<'s>(state: &'s State, agent: &str) -> Vec<&'s Record> {
    state.tasks.iter().filter(|task| task.claimed_by() == Some(agent) && is_held(task)).collect()
}

/// No sign of life of the holder for `stale_seconds`, and no claim or start since.
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
        // A sign from the far future came from a wrong clock.
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

pub(super) fn capabilities_of<'s>(state: &'s State, agent: &str) -> Vec<&'s str> {
    state.agent(agent).map(|agent| agent.capabilities("capabilities")).unwrap_or_default()
}

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

/// False for failed and cancelled tasks.
pub fn is_done(task: &Record) -> bool {
    state_of(task).is_some_and(LifecycleState::is_reached_end)
}

pub fn open_dependencies<'t>(task: &'t Record, state: &State) -> Vec<&'t str> {
    let mut open = task.dependencies();
    open.retain(|id| !state.task(id).is_some_and(is_done));
    open
}

/// Tasks that wait only for `done`, moved to `available`.
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

/// New tasks, or replacements by id.
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

/// The first id is repeated at the end.
pub fn dependency_circle(id: &str, state: &State) -> Option<Vec<String>> {
    circle(&state.task(id)?.id, |id| state.task(id).map(Record::dependencies))
}

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

#[derive(Clone, Debug)]
pub struct CoordinationFacts {
    pub state: State,
    pub format: Format,
    /// At once.
    pub claims_per_agent: usize,
    pub orphaned: BTreeSet<String>,
}

impl CoordinationFacts {
    /// Missing ones are not included.
    pub(crate) fn undone<'t>(&self, task: &'t Record) -> Vec<&'t str> {
        let mut undone = task.dependencies();
        undone.retain(|id| self.state.task(id).is_some_and(|task| !is_done(task)));
        undone
    }

    /// Earlier tasks of the holder, if it has more than allowed.
    pub(crate) fn held_before(&self, task: &Record) -> Option<(&str, Vec<&str>)> {
        let held = held_by(&self.state, task.claimed_by()?);
        let place = held.iter().position(|held| held.id == task.id)?;
        let before = held[..place].iter().map(|held| held.id.as_str()).collect();
        (place >= self.claims_per_agent).then_some((held[place].claimed_by()?, before))
    }
}
