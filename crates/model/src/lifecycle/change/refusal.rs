//! Refusals of changes, whatever they do to the status.

use crate::spelling::listed;

/// A change that the lifecycle of an artifact forbids beside moves of the status.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeRefusal {
    /// An entry of a list that only grows was changed or taken away.
    #[error("`{key}` only grows by the lifecycle `{lifecycle}`: {}", lost(*.kept, *.before))]
    NotAppended {
        /// The lifecycle.
        lifecycle: String,
        /// The key of the list.
        key: String,
        /// The number of its first entries that stand as they were.
        kept: usize,
        /// The number of its entries before.
        before: usize,
    },
    /// Its state is frozen.
    #[error(
        "it is `{state}`, which the lifecycle `{lifecycle}` leaves as it is: {}",
        if legal.is_empty() { "nothing leads out of it".to_owned() } else { format!("only a move to {} changes it", listed(legal)) }
    )]
    Frozen {
        /// The lifecycle.
        lifecycle: String,
        /// Its state.
        state: String,
        /// The states that may be entered.
        legal: Vec<String>,
    },
    /// Somebody who may not changes it.
    #[error(
        "only the role `{role}` changes it by the lifecycle `{lifecycle}`, and `{actor}` does not have it{}",
        who(actors)
    )]
    NotWriter {
        /// The lifecycle.
        lifecycle: String,
        /// The role.
        role: String,
        /// Whoever changes it.
        actor: String,
        /// The actors that have the role.
        actors: Vec<String>,
    },
    /// Names stand where only others may.
    #[error("under `{key}` the lifecycle `{lifecycle}` has no {}: it has {}", listed(names), listed(known))]
    NotClosed {
        /// The lifecycle.
        lifecycle: String,
        /// The key above them.
        key: String,
        /// The names.
        names: Vec<String>,
        /// Those that may stand there.
        known: Vec<String>,
    },
}

impl ChangeRefusal {
    /// Returns whether a person may insist on the change, with a reason: not where history would be lost.
    pub const fn may_be_forced(&self) -> bool {
        !matches!(self, Self::NotAppended { .. })
    }
}

fn lost(kept: usize, before: usize) -> String {
    format!("of its {before} entries the {} was changed or taken away", ordinal(kept + 1))
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

fn who(actors: &[String]) -> String {
    match actors {
        [] => "; it is declared nowhere".to_owned(),
        actors => format!("; it is that of {}", listed(actors)),
    }
}
