//! A reason why an operation of flows was not made.

use crate::changes::{ChangeError, UpdateError};
use crate::{flows::FlowRecordsError, git::GitVersionError, history::HistoryError};
use crate::{replay::ReplayArtifactsError, workspace::AppendError};
use stepmark_frontmatter::EditError;
use stepmark_model::{
    artifact::ProjectPath,
    flows::{FlowRefusal, GraphProblem},
    spelling::listed,
};

#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    #[error(transparent)]
    Refused(#[from] FlowRefusal),
    #[error(transparent)]
    Records(#[from] FlowRecordsError),
    #[error("the {what} `{id}` is there already")]
    Taken {
        /// `graph` or `flow`.
        what: &'static str,
        id: String,
    },
    #[error("cannot note that the checks of the graph `{id}` may be run here")]
    Permission { id: String, source: std::io::Error },
    #[error("the graph `{id}` cannot be run")]
    Graph { id: String, source: GraphProblem },
    #[error("{} edited by other means, and the commands of `{flow}` wait for a person", told(paths))]
    Edited { flow: String, paths: Vec<ProjectPath> },
    #[error("`{path}` is gone, so that it cannot be taken as it is")]
    Gone { flow: String, path: ProjectPath },
    #[error("others change `{path}` again and again; nothing was changed")]
    Busy { path: ProjectPath },
    #[error("nothing differs that the task `{task}` has changed")]
    NoDifference { task: String },
    #[error("the task `{task}` has no such checkpoint")]
    NoCheckpoint { task: String },
    #[error("no branch is checked out onto which the flow could be merged")]
    NoBranch,
    #[error(
        "`{branch}` is no branch that a flow can be merged onto: it has no name of one, or is a name of another one"
    )]
    OddBranch { branch: String },
    #[error("the branch `{branch}` went on since the merge was prepared")]
    BranchMoved { branch: String },
    #[error("the branch `{branch}` is checked out, and its work tree would stay behind")]
    BranchCheckedOut { branch: String },
    #[error(transparent)]
    Git(#[from] GitVersionError),
    #[error("cannot note that `{agent}` is alive")]
    Signal { agent: String, source: std::io::Error },
    #[error("cannot write `{path}`")]
    Edit { path: ProjectPath, source: EditError },
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error(transparent)]
    Replay(#[from] ReplayArtifactsError),
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
