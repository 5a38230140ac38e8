//! Why a command is refused.

use super::Remark;

/// A command that makes no sense for this artifact. Nothing is changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransitionRefusal {
    /// Something that is only warned of without `--strict`.
    #[error("{0}")]
    Strict(Remark),
    /// The frontmatter cannot be read, so nothing is known about the state.
    #[error("the frontmatter cannot be read: {reason}")]
    Unreadable {
        /// Why.
        reason: String,
    },
    /// The list of completed steps is no list.
    #[error("`{key}` is no list of steps")]
    StepsNotAList {
        /// The key.
        key: String,
    },
    /// A step without a name.
    #[error("a step needs a name")]
    EmptyStep,
    /// The changes of an event cannot be taken back.
    #[error("event {event} cannot be undone: {reason}")]
    NoUndo {
        /// The event.
        event: String,
        /// Why.
        reason: String,
    },
}
