//! Moves of tasks: the pack declares them, and here is what they want of other records.

use jiff::{SignedDuration, Timestamp};

use super::{
    Record, State,
    claiming::{LIFECYCLE, capabilities_of, held_by, missing_capabilities, open_dependencies, state_of},
};
use crate::{
    lifecycle::{Guard, Lifecycle, MoveRefusal},
    packs::{MoveCall, Refused},
    records::read_time,
    spelling::{besides, listed},
};

/// The most bytes of an output that frontmatter keeps.
const MOST_OUTPUT: usize = 64 * 1024;

pub fn task_move(name: &str, agent: Option<&str>) -> MoveCall {
    let call = MoveCall::new("task", name);
    match agent {
        Some(agent) => call.with("agent", agent),
        None => call,
    }
}

/// Decides on `made`: the record of `task` after it, the same where nothing changes. `state` is asked for
/// other tasks and agents, `now` is a time (RFC 3339). An agent may have `at_most` tasks.
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

/// The reason why a guard of a move does not hold.
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
    /// The refusal of one more task for `agent`, where it has `at_most` already.
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
        /// The ids, the first at the end too.
        circle: Vec<String>,
    },
}

fn times(count: i64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
