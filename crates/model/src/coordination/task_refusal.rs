//! Refusals of moves of tasks.

use crate::{lifecycle::built_in, spelling::listed};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskRefusal {
    #[error(
        "the task `{task}` is `{status}`, and `{made}` is for tasks that are {}: {}",
        listed(wanted),
        ways(status, legal)
    )]
    Status {
        task: String,
        status: String,
        made: &'static str,
        wanted: &'static [&'static str],
        legal: Vec<String>,
    },
    #[error("the task `{task}` waits for {}", listed(open))]
    Waits {
        task: String,
        /// The tasks that are not done, or not there.
        open: Vec<String>,
    },
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
    NotHolder {
        task: String,
        /// The agent that has it.
        holder: String,
        /// The agent that moves it.
        agent: String,
    },
    #[error("the task `{task}` was tried {}, and `{key}` allows {most}", times(*count))]
    Exhausted {
        task: String,
        /// The key that allows it.
        key: &'static str,
        count: i64,
        /// The number that is allowed.
        most: i64,
    },
    #[error("the output has {bytes} bytes, and {most} are kept: put it into a file and name that")]
    OutputTooLong {
        bytes: usize,
        /// The length that is kept.
        most: usize,
    },
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
