//! Refusals of moves of flows and tasks.

use super::{FlowKind, GraphProblem};
use crate::lifecycle::{MoveRefusal, built_in};
use crate::spelling::{besides, listed};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowRefusal {
    #[error("only a person may {action}, and `{actor}` is none: ask one")]
    NotHuman {
        action: String,
        actor: String,
        /// The states that it may be moved to by anybody.
        legal: Vec<String>,
    },
    #[error(
        "`{id}` is `{status}`, and `{made}` is for those that are {}: {}",
        listed(wanted),
        ways(*kind, status)
    )]
    Status { kind: FlowKind, id: String, status: String, made: String, wanted: Vec<String> },
    #[error("{first}{}", besides(others))]
    Several { first: Box<Self>, others: Vec<Self> },
    #[error(transparent)]
    Move(Box<MoveRefusal>),
    #[error("the task `{task}` waits for {}", listed(open))]
    Waits { task: String, open: Vec<String> },
    #[error("the task `{task}` wants `{wanted}`, and `{other}`, which is running, wants `{taken}`")]
    ScopeTaken { task: String, wanted: String, other: String, taken: String },
    #[error("the task `{task}` was tried {count} times, and `max_attempts` allows {most}")]
    Exhausted { task: String, count: u64, most: u64 },
    #[error("`{given}` is not the one that counts: that is `{counts}`, {of}")]
    OtherAttempt { given: String, counts: String, of: String },
    #[error("the flow `{flow}` has no task `{task}`")]
    NoTask { flow: String, task: String },
    #[error("the check `{check}` of the task `{task}` has no result, and it is required")]
    NoResult { task: String, check: String },
    #[error("the task `{task}` has no check `{check}`: it has {}", listed(known))]
    UnknownCheck { task: String, check: String, known: Vec<String> },
    #[error(
        "nothing says whether the attempt is good: the task `{task}` has no check, and no verifier decided"
    )]
    NoJudgement { task: String },
    #[error("`{agent}` did the task `{task}`, and another one judges it; with `--run` its checks decide")]
    OwnWork { task: String, agent: String },
    #[error("the report has {bytes} bytes, and {most} are kept: put it into a file and name that")]
    TooLong { bytes: usize, most: usize },
    #[error("the graph `{graph}`, version {version}, was changed since the flow was made of it")]
    GraphChanged { graph: String, version: u64 },
    #[error("no task of `{flow}` can be claimed: {waiting} waiting, {running} running, {failed} failed")]
    NothingReady {
        flow: String,
        /// Tasks that wait for others, or for files.
        waiting: usize,
        running: usize,
        failed: usize,
    },
    #[error("the graph `{graph}` cannot be run")]
    Graph { graph: String, source: GraphProblem },
    #[error("the flow `{flow}` is not complete: {}", listed(open))]
    Incomplete { flow: String, open: Vec<String> },
    #[error("the task `{task}` got another checkpoint while it was verified")]
    CheckpointMeanwhile { task: String },
    #[error(
        "the merge of `{flow}` leaves out what these tasks did, since the last attempt has no checkpoint: {}",
        listed(tasks)
    )]
    NoCheckpoint { flow: String, tasks: Vec<String> },
    #[error("the merge of `{flow}` leaves conflicts in {}", listed(files))]
    Conflicts { flow: String, files: Vec<String> },
    #[error("the merge of `{flow}` is another one than a person approved")]
    OtherPlan { flow: String },
    #[error("the merge of `{flow}` was not approved by a person")]
    NotApproved { flow: String },
}

pub(super) fn legal_moves(kind: FlowKind, status: &str) -> Vec<String> {
    let table = built_in(kind.lifecycle());
    let moves = table.and_then(|table| Some(table.moves_from(table.state_of(status)?, None)));
    moves.unwrap_or_default().iter().map(|legal| legal.to.name.clone()).collect()
}

impl FlowRefusal {
    pub fn first(&self) -> &Self {
        if let Self::Several { first, .. } = self { first } else { self }
    }
}

fn ways(kind: FlowKind, status: &str) -> String {
    let legal = legal_moves(kind, status);
    match legal.is_empty() {
        true => format!("`{status}` is final"),
        false => format!("from `{status}` it goes to {}", listed(&legal)),
    }
}
