//! Refusals of moves of tasks.

use crate::{lifecycle::built_in, spelling::listed};

/// A reason why a move of a task is refused, with what would be legal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskRefusal {
    /// It is in another status.
    #[error(
        "the task `{task}` is `{status}`, and `{made}` is for tasks that are {}: {}",
        listed(wanted),
        ways(status, legal)
    )]
    Status {
        /// The task.
        task: String,
        /// Its status.
        status: String,
        /// The move.
        made: &'static str,
        /// The statuses that the move is for.
        wanted: &'static [&'static str],
        /// The statuses that the task may be moved to.
        legal: Vec<String>,
    },
    /// It waits for other tasks.
    #[error("the task `{task}` waits for {}", listed(open))]
    Waits {
        /// The task.
        task: String,
        /// The tasks that are not done, or not there.
        open: Vec<String>,
    },
    /// It may be tried again later.
    #[error("the task `{task}` may be tried again at {at}")]
    Later {
        /// The task.
        task: String,
        /// The time.
        at: String,
    },
    /// The agent lacks capabilities that it wants.
    #[error(
        "the task `{task}` wants {}, which `{agent}` does not name among its capabilities",
        listed(missing)
    )]
    Capabilities {
        /// The task.
        task: String,
        /// The agent.
        agent: String,
        /// The capabilities that it lacks.
        missing: Vec<String>,
    },
    /// The agent has as many tasks as it may have.
    #[error("`{agent}` has {}: complete, fail or release one of them before", listed(held))]
    TooManyClaims {
        /// The agent.
        agent: String,
        /// Its tasks.
        held: Vec<String>,
    },
    /// Another agent has it.
    #[error("the task `{task}` is that of `{holder}`: only `{holder}` moves it, not `{agent}`")]
    NotHolder {
        /// The task.
        task: String,
        /// The agent that has it.
        holder: String,
        /// The agent that moves it.
        agent: String,
    },
    /// It was tried as often as it may be.
    #[error("the task `{task}` was tried {}, and `{key}` allows {most}", times(*count))]
    Exhausted {
        /// The task.
        task: String,
        /// The key that allows it.
        key: &'static str,
        /// The number of tries.
        count: i64,
        /// The number that is allowed.
        most: i64,
    },
    /// The output is too long for frontmatter.
    #[error("the output has {bytes} bytes, and {most} are kept: put it into a file and name that")]
    OutputTooLong {
        /// Its length.
        bytes: usize,
        /// The length that is kept.
        most: usize,
    },
    /// A record with its id is there.
    #[error("the id `{id}` is taken")]
    IdTaken {
        /// The id.
        id: String,
    },
    /// Nobody knows the agent.
    #[error("there is no agent `{agent}`")]
    UnknownAgent {
        /// The agent.
        agent: String,
    },
    /// It would wait for a task that nobody knows.
    #[error("the task `{task}` depends on `{dependency}`, which is no task")]
    UnknownDependency {
        /// The task.
        task: String,
        /// The id.
        dependency: String,
    },
    /// Tasks would wait for each other.
    #[error("tasks would wait for each other: {}", circle.join(" → "))]
    Circle {
        /// The ids, the first at the end too.
        circle: Vec<String>,
    },
}

/// The moves of a task out of `status`, in words.
fn ways(status: &str, legal: &[String]) -> String {
    if !legal.is_empty() {
        return format!("from `{status}` it goes to {}", listed(legal));
    }
    match built_in("cc-task").and_then(|table| table.state_of(status)) {
        Some(_) => format!("`{status}` is final"),
        None => format!("`{status}` is no status of a task"),
    }
}

fn times(count: i64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
