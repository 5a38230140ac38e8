//! A reason why an operation of coordination was not made.

use std::collections::BTreeSet;

use crate::changes::{ChangeError, ConfigureError, UpdateError};
use crate::coordination::RecordsError;
use crate::projection::ProjectionError;
use stepmark_frontmatter::EditError;
use stepmark_model::{
    artifact::{ProjectPath, ProjectPathError},
    coordination::{FormatError, TaskRefusal},
};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoordinationError {
    #[error(transparent)]
    Records(#[from] RecordsError),
    #[error(transparent)]
    Refused(#[from] TaskRefusal),
    #[error("there is no task `{id}`")]
    NoTask { id: String },
    #[error(
        "no task can be claimed: {available} available, {waiting} waiting for others, {held} held{}{}",
        taken(orphaned),
        undecided(changed)
    )]
    NothingToClaim {
        /// Tasks that are available, but not to this agent, or not yet.
        available: usize,
        /// Tasks that wait for others.
        waiting: usize,
        held: usize,
        /// Tasks that were taken from silent agents before.
        orphaned: Vec<String>,
        changed: BTreeSet<String>,
    },
    #[error(
        "another program changed the task `{id}` in a state file, and perhaps works on it: nobody claims it"
    )]
    Changed { id: String },
    #[error("coordination has begun here already, with the goal `{goal}`")]
    Begun { goal: String },
    #[error("other agents change `{path}` again and again; nothing was changed")]
    Busy { path: ProjectPath },
    #[error(transparent)]
    Format(#[from] FormatError),
    #[error("there is no state file of coordination in `{place}`")]
    NothingToImport { place: String },
    #[error("cannot read `{place}`")]
    Outside { place: String, source: std::io::Error },
    #[error("cannot note that `{agent}` is alive")]
    Signal { agent: String, source: std::io::Error },
    #[error("cannot write `{path}`")]
    Edit { path: ProjectPath, source: EditError },
    #[error(transparent)]
    Configuration(#[from] ConfigureError),
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The files of the configured format cannot follow. The records are changed.
    #[error(transparent)]
    Files(#[from] ProjectionError),
}

impl From<ProjectPathError> for CoordinationError {
    fn from(error: ProjectPathError) -> Self {
        Self::Records(error.into())
    }
}

impl From<UpdateError<Self>> for CoordinationError {
    fn from(error: UpdateError<Self>) -> Self {
        match error {
            UpdateError::Refused { source, .. } => source,
            UpdateError::Change(error) => error.into(),
        }
    }
}

fn undecided(changed: &BTreeSet<String>) -> String {
    match changed.iter().map(String::as_str).collect::<Vec<_>>().join(", ") {
        ids if ids.is_empty() => ids,
        ids => format!(
            "; other programs changed {ids} in the state files: nobody claims what is undecided there"
        ),
    }
}

fn taken(orphaned: &[String]) -> String {
    match orphaned {
        [] => String::new(),
        ids => format!("; the agents of {} were silent for too long, and hold them no more", ids.join(", ")),
    }
}
