//! Refusals of commands.

use super::{OpenChild, Remark};
use crate::lifecycle::{ChangeRefusal, MoveRefusal};
use stepmark_frontmatter::KeyPathError;

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
    /// It is a record of a system, which does not allow the change.
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
