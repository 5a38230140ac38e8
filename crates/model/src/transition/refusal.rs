//! Refusals of commands.

use super::{OpenChild, Remark};
use crate::lifecycle::{ChangeRefusal, MoveRefusal};
use stepmark_frontmatter::KeyPathError;

/// A command that makes no sense for this artifact. Nothing is changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransitionRefusal {
    /// Something that is only warned of without `--strict`.
    #[error("{0}")]
    Strict(Remark),
    /// A step that its workflow does not have.
    #[error("{0}")]
    Unknown(Remark),
    /// The list holds numbers, and the step has no number alone.
    #[error(
        "`{key}` holds numbers, and `{step}` cannot be written as one: no reader takes a list of both for one"
    )]
    OtherSpelling {
        /// The step.
        step: String,
        /// The key of the list.
        key: String,
    },
    /// Its kind has commands of its own, from which its steps follow.
    #[error("it has no list of steps: `{instead}` moves it on")]
    StepsFollow {
        /// The command that moves it on.
        instead: String,
    },
    /// It has neither a workflow nor a list of steps.
    #[error("it has no steps: no workflow of the project fits it, and it lists none")]
    NoSteps {
        /// Set where it says a status.
        has_status: bool,
    },
    /// A list of steps would become something else.
    #[error("`{key}` is a list of steps, and would be one no more")]
    ListReplaced {
        /// The key.
        key: String,
    },
    /// The item or key that is to be taken out is not there.
    #[error("there is no such thing: {what}")]
    NotThere {
        /// The item or key.
        what: String,
    },
    /// The frontmatter cannot be read, so nothing is known about the state.
    #[error("the frontmatter cannot be read: {reason}")]
    Unreadable {
        /// The reason.
        reason: String,
    },
    /// Readers disagree on what the frontmatter says, so history could not say what is taken away.
    #[error("history could not say what is taken away: {reason}")]
    NoState {
        /// The reason.
        reason: String,
    },
    /// The list of completed steps is no list.
    #[error("`{key}` is no list of steps")]
    StepsNotAList {
        /// The key.
        key: String,
    },
    /// Work that was delegated from it is not finished.
    #[error("{} open: {}", pieces(children.len()), listed(children))]
    OpenChildren {
        /// The open children, in the order of their paths.
        children: Vec<OpenChild>,
    },
    /// It has no lifecycle, so nobody knows which states there are.
    #[error("it has no lifecycle: neither the configuration nor its type gives it one")]
    NoLifecycle,
    /// It is a story that is not imported, so its frontmatter has no status to move.
    #[error("it is a story that is not imported yet: its frontmatter has no status")]
    NotImported,
    /// Only a person may make the move.
    #[error("only a person moves it: act as `human:NAME`, or `--force` with the reason")]
    NotHuman,
    /// Its lifecycle forbids the move.
    #[error(transparent)]
    Move(Box<MoveRefusal>),
    /// Its lifecycle forbids the change.
    #[error(transparent)]
    Change(Box<ChangeRefusal>),
    /// Nothing can be delegated from it.
    #[error("nothing can be delegated from it")]
    NoDelegation {
        /// The reason.
        #[from]
        source: crate::delegation::ParentPositionError,
    },
    /// It is finished, so there is nothing left to delegate.
    #[error("it is finished: reopen it, or set its status, before work is delegated from it")]
    Finished,
    /// A text is no path to a value.
    #[error(transparent)]
    NoPath(#[from] KeyPathError),
    /// A step without a name.
    #[error("a step needs a name")]
    EmptyStep,
    /// `scope` holds a text of another program (docs/formats.md).
    #[error("`scope` holds a text that is no scope: `{text}`")]
    ScopeIsText {
        /// The text.
        text: String,
    },
    /// A person gave the scope, and an AI does not overrule that.
    #[error("a person gave it the scope `{stands}`")]
    ScopeOfHuman {
        /// The scope that stands.
        stands: String,
    },
    /// Only the commands of flows change their records.
    #[error("it is a record of a flow, which the commands `stepmark flow` alone change")]
    OfFlow,
    /// The changes of an event cannot be taken back.
    #[error("event {event} cannot be undone: {reason}")]
    NoUndo {
        /// The event.
        event: String,
        /// The reason.
        reason: String,
    },
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

/// The number of children that a message names.
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
