//! Refusals of moves of flows and tasks.

use super::{FlowKind, GraphProblem};
use crate::{lifecycle::built_in, spelling::listed};

/// A reason why a move of a flow or of a task is refused, with what would be legal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlowRefusal {
    /// Only a person may do it.
    #[error("only a person may {action}, and `{actor}` is none: ask one")]
    NotHuman {
        /// The act.
        action: &'static str,
        /// The actor.
        actor: String,
        /// The states that it may be moved to by anybody.
        legal: Vec<String>,
    },
    /// The flow or the task is in another status.
    #[error(
        "`{id}` is `{status}`, and `{made}` is for those that are {}: {}",
        listed(wanted),
        ways(*kind, status)
    )]
    Status {
        /// Flow or task.
        kind: FlowKind,
        /// Its id.
        id: String,
        /// Its status.
        status: String,
        /// The move.
        made: &'static str,
        /// The statuses that the move is for.
        wanted: &'static [&'static str],
    },
    /// The task waits for others.
    #[error("the task `{task}` waits for {}", listed(open))]
    Waits {
        /// The task.
        task: String,
        /// The tasks that have not succeeded.
        open: Vec<String>,
    },
    /// A running task wants the same files.
    #[error("the task `{task}` wants `{wanted}`, and `{other}`, which is running, wants `{taken}`")]
    ScopeTaken {
        /// The task.
        task: String,
        /// Its scope.
        wanted: String,
        /// The task that is running.
        other: String,
        /// The scope of that one.
        taken: String,
    },
    /// The task was tried as often as it may be.
    #[error("the task `{task}` was tried {count} times, and `max_attempts` allows {most}")]
    Exhausted {
        /// The task.
        task: String,
        /// The number of attempts.
        count: u64,
        /// The number that is allowed.
        most: u64,
    },
    /// It is about another attempt than the one that counts.
    #[error("`{given}` is not the one that counts: that is `{counts}`, {of}")]
    OtherAttempt {
        /// The attempt that was named.
        given: String,
        /// The attempt that counts.
        counts: String,
        /// Whose it is.
        of: String,
    },
    /// There is no such task.
    #[error("the flow `{flow}` has no task `{task}`")]
    NoTask {
        /// The flow.
        flow: String,
        /// The task.
        task: String,
    },
    /// A required check has no result.
    #[error("the check `{check}` of the task `{task}` has no result, and it is required")]
    NoResult {
        /// The task.
        task: String,
        /// The check.
        check: String,
    },
    /// A check is none of the task's.
    #[error("the task `{task}` has no check `{check}`: it has {}", listed(known))]
    UnknownCheck {
        /// The task.
        task: String,
        /// The check.
        check: String,
        /// Its checks.
        known: Vec<String>,
    },
    /// Nothing says whether the attempt is good.
    #[error(
        "nothing says whether the attempt is good: the task `{task}` has no check, and no verifier decided"
    )]
    NoJudgement {
        /// The task.
        task: String,
    },
    /// A report is too long for frontmatter.
    #[error("the report has {bytes} bytes, and {most} are kept: put it into a file and name that")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The length that is kept.
        most: usize,
    },
    /// The graph is not the one that the flow was made from.
    #[error("the graph `{graph}`, version {version}, was changed since the flow was made of it")]
    GraphChanged {
        /// The graph.
        graph: String,
        /// Its version.
        version: u64,
    },
    /// No task can be claimed.
    #[error("no task of `{flow}` can be claimed: {waiting} waiting, {running} running, {failed} failed")]
    NothingReady {
        /// The flow.
        flow: String,
        /// Tasks that wait for others, or for files.
        waiting: usize,
        /// Tasks that are running or verified.
        running: usize,
        /// Tasks that failed for good.
        failed: usize,
    },
    /// The graph cannot be run.
    #[error("the graph `{graph}` cannot be run")]
    Graph {
        /// The graph.
        graph: String,
        /// The problem.
        source: GraphProblem,
    },
    /// Not all tasks have succeeded.
    #[error("the flow `{flow}` is not complete: {}", listed(open))]
    Incomplete {
        /// The flow.
        flow: String,
        /// The tasks that have not succeeded.
        open: Vec<String>,
    },
    /// A checkpoint was made while the attempt was verified: nobody knows yet what it has changed.
    #[error("the task `{task}` got another checkpoint while it was verified")]
    CheckpointMeanwhile {
        /// The task.
        task: String,
    },
    /// A merge would leave out the work of tasks.
    #[error(
        "the merge of `{flow}` leaves out what these tasks did, since the last attempt has no checkpoint: {}",
        listed(tasks)
    )]
    NoCheckpoint {
        /// The flow.
        flow: String,
        /// The tasks.
        tasks: Vec<String>,
    },
    /// Files could not be merged.
    #[error("the merge of `{flow}` leaves conflicts in {}", listed(files))]
    Conflicts {
        /// The flow.
        flow: String,
        /// The files.
        files: Vec<String>,
    },
    /// The plan of a merge is another one than a person approved.
    #[error("the merge of `{flow}` is another one than a person approved")]
    OtherPlan {
        /// The flow.
        flow: String,
    },
    /// The merge was not approved.
    #[error("the merge of `{flow}` was not approved by a person")]
    NotApproved {
        /// The flow.
        flow: String,
    },
}

/// The states that a record of `kind` may be moved to from `status`.
pub(super) fn legal_moves(kind: FlowKind, status: &str) -> Vec<String> {
    let table = built_in(kind.lifecycle());
    let moves = table.and_then(|table| Some(table.moves_from(table.state_of(status)?, None)));
    moves.unwrap_or_default().iter().map(|legal| legal.to.name.clone()).collect()
}

fn ways(kind: FlowKind, status: &str) -> String {
    let legal = legal_moves(kind, status);
    match legal.is_empty() {
        true => format!("`{status}` is final"),
        false => format!("from `{status}` it goes to {}", listed(&legal)),
    }
}
