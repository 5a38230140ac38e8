//! A reason why an operation of flows was not made.

use crate::changes::{ChangeError, UpdateError};
use crate::flows::FlowRecordsError;
use crate::git::GitVersionError;
use crate::history::HistoryError;
use crate::replay::ReplayArtifactsError;
use crate::workspace::AppendError;
use stepmark_frontmatter::EditError;
use stepmark_model::{
    artifact::ProjectPath,
    flows::{FlowRefusal, GraphProblem},
    spelling::listed,
};

/// A reason why an operation of flows was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// The operation is refused.
    #[error(transparent)]
    Refused(#[from] FlowRefusal),
    /// The records cannot be read.
    #[error(transparent)]
    Records(#[from] FlowRecordsError),
    /// A record with the id is there.
    #[error("the {what} `{id}` is there already")]
    Taken {
        /// `graph` or `flow`.
        what: &'static str,
        /// The id.
        id: String,
    },
    /// The permission to run the checks of a graph cannot be noted.
    #[error("cannot note that the checks of the graph `{id}` may be run here")]
    Permission {
        /// The graph.
        id: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A graph cannot be run.
    #[error("the graph `{id}` cannot be run")]
    Graph {
        /// Its id.
        id: String,
        /// The problem.
        source: GraphProblem,
    },
    /// Records were edited by other means.
    #[error("{} edited by other means, and the commands of `{flow}` wait for a person", told(paths))]
    Edited {
        /// The flow.
        flow: String,
        /// The records.
        paths: Vec<ProjectPath>,
    },
    /// A record that is to be taken as it is is gone.
    #[error("`{path}` is gone, so that it cannot be taken as it is")]
    Gone {
        /// The flow.
        flow: String,
        /// The record.
        path: ProjectPath,
    },
    /// Others change the records again and again.
    #[error("others change `{path}` again and again; nothing was changed")]
    Busy {
        /// A file that they change.
        path: ProjectPath,
    },
    /// A task has changed nothing since its last checkpoint.
    #[error("nothing differs that the task `{task}` has changed")]
    NoDifference {
        /// The task.
        task: String,
    },
    /// A task has no checkpoint, or not that one.
    #[error("the task `{task}` has no such checkpoint")]
    NoCheckpoint {
        /// The task.
        task: String,
    },
    /// No branch is checked out, and none is named.
    #[error("no branch is checked out onto which the flow could be merged")]
    NoBranch,
    /// No commits can be put onto what a branch is called.
    #[error(
        "`{branch}` is no branch that a flow can be merged onto: it has no name of one, or is a name of another one"
    )]
    OddBranch {
        /// The branch.
        branch: String,
    },
    /// A branch went on since the merge was prepared.
    #[error("the branch `{branch}` went on since the merge was prepared")]
    BranchMoved {
        /// The branch.
        branch: String,
    },
    /// A branch is checked out, whose work tree would stay behind.
    #[error("the branch `{branch}` is checked out, and its work tree would stay behind")]
    BranchCheckedOut {
        /// The branch.
        branch: String,
    },
    /// Git cannot do it.
    #[error(transparent)]
    Git(#[from] GitVersionError),
    /// A sign of life cannot be noted.
    #[error("cannot note that `{agent}` is alive")]
    Signal {
        /// The agent.
        agent: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A value cannot be written as frontmatter.
    #[error("cannot write `{path}`")]
    Edit {
        /// The file.
        path: ProjectPath,
        /// The problem.
        source: EditError,
    },
    /// The records cannot be changed.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// History cannot be read.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// History cannot be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayArtifactsError),
    /// Live segments cannot be sealed.
    #[error(transparent)]
    Seal(#[from] AppendError),
}

impl From<UpdateError<Self>> for FlowError {
    fn from(error: UpdateError<Self>) -> Self {
        match error {
            UpdateError::Refused { source, .. } => source,
            UpdateError::Change(error) => error.into(),
        }
    }
}

fn told(paths: &[ProjectPath]) -> String {
    let names: Vec<&str> = paths.iter().map(ProjectPath::as_str).collect();
    let were = if paths.len() == 1 { "was" } else { "were" };
    format!("{} {were}", listed(&names))
}
