//! The plan of a command.

use std::fmt;

use super::OpenChild;
use crate::lifecycle::{ChangeRefusal, MoveRefusal};
use stepmark_frontmatter::{Edit, KeyPathError};

/// Without edits nothing is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub edits: Vec<Edit>,
    pub remarks: Vec<Remark>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    AlreadyCompleted {
        step: String,
    },
    NotCompleted {
        step: String,
    },
    UnknownStep {
        step: String,
        workflow: String,
        near: Option<String>,
    },
    /// Its number is that of a step with another name.
    OtherName {
        step: String,
        of_number: Option<String>,
        of_name: Option<String>,
    },
    AmbiguousStep {
        step: String,
        candidates: Vec<String>,
    },
    StepsByName {
        key: String,
    },
    OutOfOrder {
        step: String,
        /// Empty if finished.
        expected: Vec<String>,
    },
    LaterStepsStay {
        step: String,
        furthest: String,
    },
    AlreadyInState {
        status: String,
        state: String,
    },
    BoxesOpen {
        open: usize,
        total: usize,
    },
    /// A related key was kept: no value of its type fits.
    KeyLeft {
        key: String,
    },
    /// Changed, but gates could not be updated.
    GatesLeft {
        reason: String,
    },
    /// Changed, but the lease taken for it could not be released.
    LeaseLeft {
        reason: String,
    },
    /// Changed, but files of other programs are behind.
    FilesLeft {
        reason: String,
    },
    /// Undone as a part of the same decision.
    TakenBackToo {
        path: String,
    },
    MadeStays {
        path: String,
    },
    LedgerFollowed {
        ledger: String,
        status: String,
    },
    /// Git ignores the sprint status, and the work tree may be removed.
    LedgerIgnored {
        ledger: String,
    },
    /// A copy of the status, in the sprint status or the body, is behind.
    LedgerLeft {
        reason: String,
    },
    AlreadyTracked {
        key: &'static str,
        id: String,
    },
}

impl Remark {
    /// False for answers such as "already completed".
    pub const fn is_warning(&self) -> bool {
        !matches!(
            self,
            Self::AlreadyCompleted { .. }
                | Self::NotCompleted { .. }
                | Self::AlreadyTracked { .. }
                | Self::AlreadyInState { .. }
                | Self::LedgerFollowed { .. }
                | Self::TakenBackToo { .. }
        )
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyCompleted { step } => write!(out, "`{step}` is completed already"),
            Self::AlreadyInState { status, state } if status == state => {
                write!(out, "its status is `{state}` already")
            }
            Self::AlreadyInState { status, state } => {
                write!(out, "its status `{status}` means `{state}` already")
            }
            Self::NotCompleted { step } => write!(out, "`{step}` is not in the list"),
            Self::StepsByName { key } => {
                write!(
                    out,
                    "the steps of `{key}` are written by name now, since one of them has no number alone"
                )
            }
            Self::UnknownStep { step, workflow, near } => {
                let near = near.as_ref().map(|near| format!(" (is `{near}` meant?)")).unwrap_or_default();
                write!(out, "the workflow `{workflow}` has no step `{step}`{near}")
            }
            Self::OtherName { step, of_number, of_name } => {
                write!(out, "no step is called `{step}`")?;
                of_number
                    .iter()
                    .try_for_each(|of_number| write!(out, "; its number is that of `{of_number}`"))?;
                of_name.iter().try_for_each(|of_name| write!(out, "; its name is that of `{of_name}`"))
            }
            Self::AmbiguousStep { step, candidates } => {
                write!(out, "`{step}` may be any of {}", candidates.join(", "))
            }
            Self::OutOfOrder { step, expected } if expected.is_empty() => {
                write!(out, "`{step}` comes after the end: the workflow is finished")
            }
            Self::OutOfOrder { step, expected } => {
                write!(out, "`{step}` is out of order: next is {}", expected.join(" or "))
            }
            Self::LaterStepsStay { step, furthest } => {
                write!(out, "`{step}` is open again, but later steps up to `{furthest}` stay completed")
            }
            Self::BoxesOpen { open, total } => write!(out, "{open} of its {total} boxes are open"),
            Self::KeyLeft { key } => write!(out, "`{key}` is left as it is: its form cannot name this step"),
            Self::GatesLeft { reason } => {
                write!(out, "its gates are not up to date, and closed until `stepmark project`: {reason}")
            }
            Self::LeaseLeft { reason } => {
                write!(out, "its lease is still held (`stepmark gate lease release`): {reason}")
            }
            Self::FilesLeft { reason } => {
                write!(out, "files of other programs do not say it yet: {reason}")
            }
            Self::LedgerFollowed { ledger, status } => write!(out, "`{ledger}` says `{status}` too"),
            Self::LedgerIgnored { ledger } => {
                write!(out, "git ignores `{ledger}`: what it says is gone when this work tree is removed")
            }
            Self::TakenBackToo { path } => write!(out, "`{path}` was taken back with it"),
            Self::MadeStays { path } => {
                write!(out, "`{path}` was made with it and stays: `stepmark remove {path}` removes it")
            }
            Self::LedgerLeft { reason } => {
                write!(
                    out,
                    "a ledger stays behind: {reason}; `stepmark project --ledgers` tries again, `stepmark import stories` asks \
                     which side wins"
                )
            }
            Self::AlreadyTracked { key, id } => write!(out, "`{key}: {id}` identifies it already"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransitionRefusal {
    #[error("{0}")]
    Strict(Remark),
    #[error("{0}")]
    Unknown(Remark),
    #[error(
        "`{key}` holds numbers, and `{step}` cannot be written as one: no reader takes a list of both for one"
    )]
    OtherSpelling { step: String, key: String },
    #[error("it has no list of steps: `{instead}` moves it on")]
    StepsFollow { instead: String },
    #[error("it has no steps: no workflow of the project fits it, and it lists none")]
    NoSteps { has_status: bool },
    #[error("`{key}` is a list of steps, and would be one no more")]
    ListReplaced { key: String },
    #[error("there is no such thing: {what}")]
    NotThere { what: String },
    #[error("the frontmatter cannot be read: {reason}")]
    Unreadable { reason: String },
    #[error("history could not say what is taken away: {reason}")]
    NoState { reason: String },
    #[error("`{key}` is no list of steps")]
    StepsNotAList { key: String },
    #[error("{} open: {}", pieces(children.len()), listed(children))]
    OpenChildren { children: Vec<OpenChild> },
    #[error("it has no lifecycle: neither the configuration nor its type gives it one")]
    NoLifecycle,
    #[error("it is a story that is not imported yet: its frontmatter has no status")]
    NotImported,
    #[error("only a person moves it: act as `human:NAME`, or `--force` with the reason")]
    NotHuman,
    #[error(transparent)]
    Move(Box<MoveRefusal>),
    #[error(transparent)]
    Change(Box<ChangeRefusal>),
    #[error("nothing can be delegated from it")]
    NoDelegation {
        #[from]
        source: crate::delegation::ParentPositionError,
    },
    #[error("it is finished: reopen it, or set its status, before work is delegated from it")]
    Finished,
    #[error(transparent)]
    NoPath(#[from] KeyPathError),
    #[error("a step needs a name")]
    EmptyStep,
    #[error("`scope` holds a text that is no scope: `{text}`")]
    ScopeIsText { text: String },
    #[error("a person gave it the scope `{stands}`")]
    ScopeOfHuman { stands: String },
    #[error("it is a record of a flow, which the commands `stepmark flow` alone change")]
    OfFlow,
    #[error("{reason}")]
    Record { reason: String, help: String },
    #[error("event {event} cannot be undone: {reason}")]
    NoUndo { event: String, reason: String },
}

impl From<ChangeRefusal> for TransitionRefusal {
    fn from(refusal: ChangeRefusal) -> Self {
        Self::Change(Box::new(refusal))
    }
}

impl From<MoveRefusal> for TransitionRefusal {
    fn from(refusal: MoveRefusal) -> Self {
        Self::Move(Box::new(refusal))
    }
}

const NAMED: usize = 10;

fn pieces(count: usize) -> String {
    if count == 1 {
        "1 delegated piece of work is".to_owned()
    } else {
        format!("{count} delegated pieces of work are")
    }
}

fn listed(children: &[OpenChild]) -> String {
    let named: Vec<String> = children.iter().take(NAMED).map(ToString::to_string).collect();
    match children.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
