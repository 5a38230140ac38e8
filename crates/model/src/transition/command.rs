//! A change that a person or an agent wants.

use std::fmt;

use super::ScopeSource;
use crate::artifact::Scope;
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_packs::MoveCall;

/// A change of an artifact's state.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Adds steps to the list of completed ones.
    Complete {
        /// The steps in any spelling.
        steps: Vec<String>,
    },
    /// Takes steps out of the list of completed ones.
    Reopen {
        /// The steps in any spelling.
        steps: Vec<String>,
    },
    /// Moves the status to another state of the artifact's lifecycle.
    Transition {
        /// The state, in any of its words.
        to: String,
    },
    /// Makes a move of the artifact's lifecycle that has a name.
    Move(MoveCall),
    /// Gives values to keys.
    Set {
        /// Each key with its value.
        assignments: Vec<(KeyPath, Value)>,
    },
    /// Adds items to lists, and takes out items and keys.
    Items {
        /// The changes, in their order.
        changes: Vec<ItemChange>,
    },
    /// Says how big the work is.
    Scope {
        /// The scope.
        scope: Scope,
        /// The source.
        source: ScopeSource,
    },
    /// Gives the artifact an id if it has none.
    Track {
        /// The id to give.
        id: String,
    },
}

/// A change of a list or of the keys.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemChange {
    /// Adds an item at the end of a list, which is made where there is none.
    Add(KeyPath, Value),
    /// Takes the first such item out of a list.
    TakeOut(KeyPath, Value),
    /// Takes a key out, with its value.
    Unset(KeyPath),
}

impl fmt::Display for ItemChange {
    /// As a person would type it behind `set` or `unset`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, sign, value) = match self {
            Self::Add(path, value) => (path, "+=", value),
            Self::TakeOut(path, value) => (path, "-=", value),
            Self::Unset(path) => return write!(out, "{path}"),
        };
        match value {
            Value::String(text) => write!(out, "{path}{sign}{text}"),
            value => write!(out, "{path}{sign}{}", value.to_json()),
        }
    }
}

/// The treatment of a step that is unknown to the workflow or not the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Say so and go on: workflows differ between releases, and a person may know better.
    Warn,
    /// Refuse a step that is unknown, or that the list has no spelling for; say so and go on where it is not
    /// the next one.
    Known,
    /// Refuse.
    Refuse,
}

impl fmt::Display for Command {
    /// As a person would type it, without the artifact.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Move(call) => call.fmt(out),
            Self::Complete { steps } => write!(out, "complete {}", steps.join(" ")),
            Self::Reopen { steps } => write!(out, "reopen {}", steps.join(" ")),
            Self::Transition { to } => write!(out, "transition {to}"),
            Self::Scope { scope, source: ScopeSource::Human } => write!(out, "scope {scope}"),
            Self::Scope { scope, source: ScopeSource::Ai { confidence } } => {
                write!(out, "scope {scope} --by ai")?;
                confidence.map_or(Ok(()), |confidence| write!(out, " --confidence {confidence}"))
            }
            Self::Track { .. } => out.write_str("track"),
            Self::Items { changes } => {
                let is_unset = matches!(changes[..], [ItemChange::Unset(_), ..]);
                out.write_str(if is_unset { "unset" } else { "set" })?;
                changes.iter().try_for_each(|change| write!(out, " {change}"))
            }
            Self::Set { assignments } => {
                out.write_str("set")?;
                assignments.iter().try_for_each(|(path, value)| match value {
                    Value::String(text) => write!(out, " {path}={text}"),
                    value => write!(out, " {path}={}", value.to_json()),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_is_typed() {
        let steps = vec!["step-01-init".to_owned(), "2".to_owned()];
        let by_ai = |confidence: Option<&str>| {
            let confidence = confidence.map(|text| text.parse().unwrap());
            Command::Scope { scope: Scope::Small, source: ScopeSource::Ai { confidence } }
        };
        let set = vec![
            ("title".parse().unwrap(), Value::from("x")),
            ("parts[0].done".parse().unwrap(), Value::Bool(true)),
        ];
        for (command, typed) in [
            (Command::Complete { steps: steps.clone() }, "complete step-01-init 2"),
            (Command::Reopen { steps }, "reopen step-01-init 2"),
            (Command::Transition { to: "done".to_owned() }, "transition done"),
            (Command::Scope { scope: Scope::Epic, source: ScopeSource::Human }, "scope epic"),
            (by_ai(None), "scope small --by ai"),
            (by_ai(Some("0.85")), "scope small --by ai --confidence 0.85"),
            (Command::Track { id: "f00d".to_owned() }, "track"),
            (Command::Set { assignments: set }, "set title=x parts[0].done=true"),
        ] {
            assert_eq!(command.to_string(), typed);
        }
    }
}
