//! Refusals of moves.

use super::Guard;
use crate::spelling::listed;

/// A move that the lifecycle forbids. Every variant holds what would be legal instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveRefusal {
    /// The state to go to is none of the lifecycle.
    #[error(
        "`{to}` is no state of the lifecycle `{lifecycle}`{}: its states are {}",
        meant(near),
        listed(states)
    )]
    UnknownTarget {
        /// The lifecycle.
        lifecycle: String,
        /// The word that was given.
        to: String,
        /// The words of the lifecycle that are like it.
        near: Vec<String>,
        /// All states.
        states: Vec<String>,
        /// The states that may be entered now.
        legal: Vec<String>,
    },
    /// The artifact's status is none of the lifecycle, so no move leads out of it (docs/design.md, "Unknown
    /// words").
    #[error(
        "its status `{from}` is no state of the lifecycle `{lifecycle}`, so no move leads out of it: its states are {}",
        listed(states)
    )]
    UnknownSource {
        /// The lifecycle.
        lifecycle: String,
        /// The status word.
        from: String,
        /// All states.
        states: Vec<String>,
    },
    /// The table has no such move.
    #[error("the lifecycle `{lifecycle}` has no move from `{from}` to `{to}`: {}", ways(from, legal))]
    Illegal {
        /// The lifecycle.
        lifecycle: String,
        /// The state that is left.
        from: String,
        /// The state to go to.
        to: String,
        /// The states that may be entered.
        legal: Vec<String>,
    },
    /// The move wants something that does not hold.
    #[error("the lifecycle `{lifecycle}` moves to `{to}` only with `{guard}`: {unmet}")]
    Guarded {
        /// The lifecycle.
        lifecycle: String,
        /// The state to go to.
        to: String,
        /// The guard that does not hold.
        guard: Guard,
        /// The reason.
        unmet: String,
        /// The states that may be entered, if what they want holds.
        legal: Vec<String>,
    },
    /// The status is that of another thing than before, which has not begun.
    #[error(
        "the lifecycle `{lifecycle}` begins anew where {} changes: with {}, not `{to}`",
        listed(subject),
        listed(legal)
    )]
    NotBegun {
        /// The lifecycle.
        lifecycle: String,
        /// The state to go to.
        to: String,
        /// The keys that say whose status it is.
        subject: Vec<String>,
        /// The states in which it begins.
        legal: Vec<String>,
    },
    /// The state was entered as often as it may be.
    #[error("`{key}` is {count}, and the lifecycle `{lifecycle}` enters `{to}` {at_most} times at most")]
    Exhausted {
        /// The lifecycle.
        lifecycle: String,
        /// The state to go to.
        to: String,
        /// The frontmatter key of the counter.
        key: String,
        /// Its statement.
        count: u64,
        /// The highest value.
        at_most: u64,
        /// The states that may be entered, if what they want holds.
        legal: Vec<String>,
    },
    /// A counter is no number, so nobody knows how often the state was entered.
    #[error("`{key}` counts how often `{to}` is entered, but `{text}` is no number")]
    NoNumber {
        /// The lifecycle.
        lifecycle: String,
        /// The state to go to.
        to: String,
        /// The frontmatter key of the counter.
        key: String,
        /// The text that is there.
        text: String,
        /// The states that may be entered, if what they want holds.
        legal: Vec<String>,
    },
}

impl MoveRefusal {
    /// The states that may be entered instead.
    pub fn legal(&self) -> &[String] {
        match self {
            Self::UnknownSource { .. } => &[],
            Self::UnknownTarget { legal, .. }
            | Self::Illegal { legal, .. }
            | Self::Guarded { legal, .. }
            | Self::NotBegun { legal, .. }
            | Self::Exhausted { legal, .. }
            | Self::NoNumber { legal, .. } => legal,
        }
    }
}

fn meant(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (is {} meant?)", listed(near)) }
}

fn ways(from: &str, legal: &[String]) -> String {
    if legal.is_empty() {
        format!("nothing leads out of `{from}`")
    } else {
        format!("from `{from}` it goes to {}", listed(legal))
    }
}
