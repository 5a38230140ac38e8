//! A reason why an operation of a system of records was not made.

use std::{collections::BTreeSet, io};

use crate::changes::{ChangeError, ConfigureError, UpdateError};
use crate::commit::{CommitError, FolderError};
use crate::workspace::AppendError;
use crate::{history::HistoryError, projection::ProjectionError, records::RecordsError};
use stepmark_frontmatter::EditError;
use stepmark_model::{
    artifact::{ProjectPath, ProjectPathError},
    asdd::{AsddRefusal, ManifestError},
    coordination::{FormatError, TaskRefusal},
};

#[derive(Debug, thiserror::Error)]
pub enum SystemError {
    #[error(transparent)]
    Records(#[from] RecordsError),
    #[error(transparent)]
    Task(#[from] TaskRefusal),
    #[error(transparent)]
    Slice(#[from] AsddRefusal),
    #[error("there is no {what} `{id}`")]
    Unknown {
        /// `task` or `slice`.
        what: &'static str,
        id: String,
    },
    #[error("there is a {kind} `{id}` already")]
    IdTaken { kind: String, id: String },
    #[error("{system} has begun here already{}", goal.as_ref().map_or_else(String::new, |goal| format!(", with the goal `{goal}`")))]
    Begun { system: &'static str, goal: Option<String> },
    #[error(
        "no task can be claimed: {available} available, {waiting} waiting for others, {held} held{}{}",
        taken(orphaned),
        undecided(changed)
    )]
    NothingToClaim {
        /// Tasks that are available, but not to this agent, or not yet.
        available: usize,
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
    #[error("`{agent}` has not begun with `{slice}`: a proposal rests on what its agent read")]
    Unread { slice: String, agent: String },
    #[error("there is no proposal `{id}` that waits")]
    NoProposal { id: String },
    #[error("{wanted} is for a {role}, and `{actor}` is none")]
    Role { wanted: &'static str, role: &'static str, actor: String, holders: Vec<String> },
    #[error("{wanted} is for a person, and `{actor}` is none: run it without `--actor` and `STEPMARK_ACTOR`")]
    NotHuman { wanted: &'static str, actor: String },
    #[error("other agents change `{path}` again and again; nothing was changed")]
    Busy { path: ProjectPath },
    #[error(transparent)]
    Format(#[from] FormatError),
    #[error("cannot read `{place}`")]
    Manifest { place: String, source: ManifestError },
    #[error("there is no {wanted} `{place}`")]
    NothingToImport { wanted: &'static str, place: String },
    /// Values of a file that no command would give a record. Nothing was written.
    #[error("nothing was brought in: {}; correct that in the file, and import it again", faults.join("; "))]
    Values { faults: Vec<String> },
    #[error("cannot read `{place}`")]
    Outside { place: String, source: io::Error },
    #[error("cannot note that `{agent}` is alive")]
    Signal { agent: String, source: io::Error },
    #[error("cannot keep {what} in the local state of the clone")]
    Local { what: &'static str, source: io::Error },
    #[error("cannot write `{path}`")]
    Edit { path: ProjectPath, source: EditError },
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error(transparent)]
    Tell(#[from] AppendError),
    #[error(transparent)]
    Configuration(#[from] ConfigureError),
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The files of the system cannot follow. The records are changed.
    #[error(transparent)]
    Files(#[from] ProjectionError),
}

impl SystemError {
    /// The record that it is about, where others can be changed nevertheless.
    pub(crate) const fn record(&self) -> Option<&ProjectPath> {
        match self {
            Self::Records(error) => error.file(),
            Self::Change(ChangeError::Refused { path, .. } | ChangeError::Edit { path, .. }) => Some(path),
            Self::Change(ChangeError::Artifact(error)) => Some(error.path()),
            _ => None,
        }
    }
}

impl From<ProjectPathError> for SystemError {
    fn from(error: ProjectPathError) -> Self {
        Self::Records(error.into())
    }
}

impl From<FolderError> for SystemError {
    fn from(error: FolderError) -> Self {
        Self::Change(CommitError::from(error).into())
    }
}

impl From<UpdateError<Self>> for SystemError {
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
