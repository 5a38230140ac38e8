//! Moves of tasks: what each changes in the record, or why it is refused.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value as Json};

use super::{
    Record, State, TaskRefusal,
    claiming::{capabilities_of, held_by, is, missing_capabilities},
    claiming::{open_dependencies, state_of},
};
use crate::{lifecycle::built_in, records::read_time};

/// The most bytes of an output that frontmatter keeps.
const MOST_OUTPUT: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskMove {
    Claim {
        agent: String,
        /// The number of tasks that an agent may have.
        at_most: usize,
    },
    Start {
        agent: String,
    },
    Complete {
        agent: String,
        output: String,
        files_modified: Vec<String>,
        files_created: Vec<String>,
    },
    /// Its agent could not do it.
    Fail {
        agent: String,
        error: String,
    },
    Release {
        agent: String,
    },
    /// A task that failed is to be tried again.
    Retry,
    /// It waits for nothing any more.
    Free,
    /// It is never to be done.
    Cancel,
    /// It is taken from an agent that is silent.
    Orphan,
}

impl TaskMove {
    /// Its name as a command.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Claim { .. } => "claim",
            Self::Start { .. } => "start",
            Self::Complete { .. } => "done",
            Self::Fail { .. } => "fail",
            Self::Release { .. } => "release",
            Self::Retry => "retry",
            Self::Free => "free",
            Self::Cancel => "cancel",
            Self::Orphan => "orphan",
        }
    }

    /// The agent that makes it, where it is its own task.
    pub fn agent(&self) -> Option<&str> {
        match self {
            Self::Claim { agent, .. }
            | Self::Start { agent }
            | Self::Complete { agent, .. }
            | Self::Fail { agent, .. }
            | Self::Release { agent } => Some(agent),
            Self::Retry | Self::Free | Self::Cancel | Self::Orphan => None,
        }
    }

    /// The result that it writes.
    fn result(&self) -> Option<Json> {
        let mut result = Map::new();
        match self {
            Self::Complete { output, files_modified, files_created, .. } => {
                result.insert("output".to_owned(), output.as_str().into());
                result.insert("files_modified".to_owned(), files_modified.clone().into());
                if !files_created.is_empty() {
                    result.insert("files_created".to_owned(), files_created.clone().into());
                }
            }
            Self::Fail { error, .. } => drop(result.insert("error".to_owned(), error.as_str().into())),
            _ => return None,
        }
        Some(result.into())
    }

    /// The statuses that it leads out of.
    const fn wanted(&self) -> &'static [&'static str] {
        match self {
            Self::Claim { .. } => &["available"],
            Self::Start { .. } => &["claimed"],
            Self::Complete { .. } | Self::Fail { .. } | Self::Release { .. } | Self::Orphan => {
                &["claimed", "in_progress"]
            }
            Self::Retry => &["failed"],
            Self::Free => &["pending", "blocked"],
            Self::Cancel => &["pending", "blocked", "available", "claimed", "in_progress"],
        }
    }

    /// The status into which it leads.
    const fn target(&self) -> &'static str {
        match self {
            Self::Claim { .. } => "claimed",
            Self::Start { .. } => "in_progress",
            Self::Complete { .. } => "done",
            Self::Fail { .. } => "failed",
            Self::Release { .. } | Self::Retry | Self::Free | Self::Orphan => "available",
            Self::Cancel => "cancelled",
        }
    }
}

/// Decides on `made`: the record of `task` after it, the same where nothing changes. `state` is asked for
/// other tasks and agents, `now` is a time (RFC 3339).
pub fn decide(task: &Record, made: &TaskMove, state: &State, now: &str) -> Result<Record, TaskRefusal> {
    let is_own = made.agent().is_some_and(|agent| task.claimed_by() == Some(agent));
    if is_own
        && is(task, made.target())
        && made.result().is_none_or(|result| task.values.get("result") == Some(&result))
    {
        return Ok(task.clone());
    }
    check_status(task, made)?;
    if let (Some(agent), Some(holder)) = (made.agent(), task.claimed_by())
        && agent != holder
        && !matches!(made, TaskMove::Claim { .. })
    {
        let (task, holder, agent) = (task.id.clone(), holder.to_owned(), agent.to_owned());
        return Err(TaskRefusal::NotHolder { task, holder, agent });
    }
    let mut after = task.clone();
    after.set("status", made.target());
    match made {
        TaskMove::Claim { agent, at_most } => {
            check_claim(task, agent, *at_most, state, now)?;
            // A person may have opened it again.
            forget_work(&mut after);
            after.set("claimed_by", agent.as_str());
            after.set("claimed_at", now);
            if task.counts_attempts() {
                after.set("attempts", task.attempts().0.saturating_add(1));
            }
        }
        TaskMove::Start { .. } => after.set("started_at", now),
        TaskMove::Complete { output: text, .. } | TaskMove::Fail { error: text, .. } => {
            check_output(text)?;
            after.set("result", made.result());
            after.set("completed_at", now);
        }
        TaskMove::Release { .. } | TaskMove::Orphan => give_back(&mut after),
        TaskMove::Retry => retry(task, &mut after, now)?,
        TaskMove::Free => check_waits(task, state)?,
        TaskMove::Cancel => after.set("claimed_by", Json::Null),
    }
    Ok(after)
}

/// Refuses a move that the status of the task does not allow.
fn check_status(task: &Record, made: &TaskMove) -> Result<(), TaskRefusal> {
    let wanted = made.wanted();
    if wanted.iter().any(|status| is(task, status)) {
        return Ok(());
    }
    let moves = built_in("cc-task").zip(state_of(task)).map(|(table, from)| table.moves_from(from, None));
    Err(TaskRefusal::Status {
        task: task.id.clone(),
        status: task.status().to_owned(),
        made: made.name(),
        wanted,
        legal: moves.unwrap_or_default().iter().map(|legal| legal.to.name.clone()).collect(),
    })
}

/// Refuses a move of a task that waits for others.
fn check_waits(task: &Record, state: &State) -> Result<(), TaskRefusal> {
    let open: Vec<String> = open_dependencies(task, state).into_iter().map(str::to_owned).collect();
    if open.is_empty() { Ok(()) } else { Err(TaskRefusal::Waits { task: task.id.clone(), open }) }
}

fn check_claim(
    task: &Record,
    agent: &str,
    at_most: usize,
    state: &State,
    now: &str,
) -> Result<(), TaskRefusal> {
    let id = || task.id.clone();
    check_waits(task, state)?;
    if let (Some(at), Some(now)) = (task.time("next_retry_at"), read_time(now))
        && at > now
    {
        return Err(TaskRefusal::Later { task: id(), at: at.to_string() });
    }
    let missing = missing_capabilities(task, &capabilities_of(state, agent));
    if !missing.is_empty() {
        let (agent, missing) = (agent.to_owned(), missing.into_iter().map(str::to_owned).collect());
        return Err(TaskRefusal::Capabilities { task: id(), agent, missing });
    }
    let held = held_by(state, agent);
    if held.len() >= at_most {
        let held = held.into_iter().map(|held| held.id.clone()).collect();
        return Err(TaskRefusal::TooManyClaims { agent: agent.to_owned(), held });
    }
    Ok(())
}

const fn check_output(output: &str) -> Result<(), TaskRefusal> {
    if output.len() > MOST_OUTPUT {
        return Err(TaskRefusal::OutputTooLong { bytes: output.len(), most: MOST_OUTPUT });
    }
    Ok(())
}

/// Takes away what a claim has written.
fn give_back(task: &mut Record) {
    task.set("claimed_by", Json::Null);
    for key in ["claimed_at", "started_at"] {
        task.values.shift_remove(key);
    }
}

/// Takes away what the work on it before has written.
fn forget_work(task: &mut Record) {
    for key in ["started_at", "completed_at", "result"] {
        task.values.shift_remove(key);
    }
}

fn retry(task: &Record, after: &mut Record, now: &str) -> Result<(), TaskRefusal> {
    let (count, most, key) = task.attempts();
    if count >= most {
        let key = if task.counts_attempts() { "max_attempts" } else { "max_retries" };
        return Err(TaskRefusal::Exhausted { task: task.id.clone(), key, count, most });
    }
    give_back(after);
    forget_work(after);
    if !task.counts_attempts() {
        after.set(key, count.saturating_add(1));
    }
    if let (Some(delay), Some(now)) = (task.number("retry_delay"), read_time(now)) {
        let at = now.checked_add(SignedDuration::from_secs(delay.max(0))).unwrap_or(Timestamp::MAX);
        after.set("next_retry_at", at.to_string());
    }
    Ok(())
}
