//! The plan of a command.

use std::fmt;

use stepmark_frontmatter::Edit;

/// The edits that carry out a command, and what is to be said about them. No edit: nothing is to be written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The edits in order.
    pub edits: Vec<Edit>,
    /// Remarks for the caller.
    pub remarks: Vec<Remark>,
}

/// Something worth saying about a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// The step is in the list already.
    AlreadyCompleted {
        /// The step as it was given.
        step: String,
    },
    /// The step is not in the list.
    NotCompleted {
        /// The step as it was given.
        step: String,
    },
    /// The workflow has no such step.
    UnknownStep {
        /// The step as it was given.
        step: String,
        /// The workflow.
        workflow: String,
        /// The step that was most likely meant.
        near: Option<String>,
    },
    /// Its number is that of one step, and its name is not.
    OtherName {
        /// The step as it was given.
        step: String,
        /// The step of its number.
        of_number: Option<String>,
        /// The other step that has its name, or nearly.
        of_name: Option<String>,
    },
    /// Several steps of the workflow fit.
    AmbiguousStep {
        /// The step as it was given.
        step: String,
        /// Those that fit.
        candidates: Vec<String>,
    },
    /// The steps of a list of numbers are written by name now, since one of them has no number alone.
    StepsByName {
        /// The key of the list.
        key: String,
    },
    /// Another step comes next.
    OutOfOrder {
        /// The step as it was given.
        step: String,
        /// The next steps; empty when the workflow is finished.
        expected: Vec<String>,
    },
    /// Later steps stay completed.
    LaterStepsStay {
        /// The step that was reopened.
        step: String,
        /// The furthest step that stays.
        furthest: String,
    },
    /// The status means that state already.
    AlreadyInState {
        /// The status word.
        status: String,
        /// The state.
        state: String,
    },
    /// The work is finished now, and boxes of its text are not ticked.
    BoxesOpen {
        /// The number of those.
        open: usize,
        /// The number of all.
        total: usize,
    },
    /// A key of the same meaning was left as it is, since no value of its kind says the same.
    KeyLeft {
        /// The key.
        key: String,
    },
    /// The change is made, but the gates of the artifact could not be brought up to date.
    GatesLeft {
        /// The reason.
        reason: String,
    },
    /// The change is made, but the lease that was taken for it could not be given back.
    LeaseLeft {
        /// The reason.
        reason: String,
    },
    /// The change is made, but files of other programs that follow it are behind.
    FilesLeft {
        /// The reason.
        reason: String,
    },
    /// Another artifact was taken back too: both were changed by one decision.
    TakenBackToo {
        /// Its path.
        path: String,
    },
    /// An artifact that was made by the same decision stays.
    MadeStays {
        /// Its path.
        path: String,
    },
    /// The ledger of a sprint came along.
    LedgerFollowed {
        /// The ledger.
        ledger: String,
        /// Its status now.
        status: String,
    },
    /// Git ignores the ledger of a work tree that may be removed.
    LedgerIgnored {
        /// The ledger.
        ledger: String,
    },
    /// A copy of the status in a ledger, or in the body, stays behind.
    LedgerLeft {
        /// The key, and the reason.
        reason: String,
    },
    /// The artifact has an id already.
    AlreadyTracked {
        /// The key that holds it.
        key: &'static str,
        /// The id.
        id: String,
    },
}

impl Remark {
    /// Returns whether a person should look at it: an answer such as "already completed" is none.
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
