//! Commands, as a person or a program gives them.

use std::{fmt, str::FromStr};

use crate::{artifact::Scope, delegation::Member};
use stepmark_frontmatter::{KeyPath, Value};
use stepmark_packs::MoveCall;

/// A change of an artifact's state.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Adds steps to the list of completed ones.
    Complete {
        steps: Vec<String>,
    },
    Reopen {
        steps: Vec<String>,
    },
    /// Moves the status to another state of the artifact's lifecycle.
    Transition {
        /// The state, in any of its words.
        to: String,
    },
    /// Makes a move of the artifact's lifecycle that has a name.
    Move(MoveCall),
    Set {
        assignments: Vec<(KeyPath, Value)>,
    },
    /// Adds items to lists, and takes out items and keys.
    Items {
        changes: Vec<ItemChange>,
    },
    Scope {
        scope: Scope,
        source: ScopeSource,
    },
    /// Gives the artifact an id if it has none.
    Track {
        id: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum ItemChange {
    /// Adds an item at the end of a list, which is made where there is none.
    Add(KeyPath, Value),
    /// Takes the first such item out of a list.
    TakeOut(KeyPath, Value),
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScopeSource {
    /// A person, whose word stands until a person changes it.
    Human,
    Ai {
        confidence: Option<Confidence>,
    },
}

/// From 0, not at all, to 1, certain. As text it has the decimals that it was given with.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence {
    value: f64,
    decimals: Option<usize>,
}

impl FromStr for Confidence {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
        let value = number.ok_or_else(|| format!("`{text}` is no confidence: write a number from 0 to 1"))?;
        let decimals = text.split_once('.').map(|(_, decimals)| decimals.len());
        let keeps = |decimals: &usize| format!("{value:.decimals$}") == text;
        Ok(Self { value, decimals: decimals.filter(keeps) })
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.decimals {
            Some(decimals) => write!(out, "{:.decimals$}", self.value),
            None => self.value.fmt(out),
        }
    }
}

impl ScopeSource {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Ai { .. } => "ai",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenChild {
    pub path: String,
    pub agent: Option<String>,
    /// Its status word; `None` where it has none, or cannot be read.
    pub status: Option<String>,
}

impl From<&Member> for OpenChild {
    fn from(member: &Member) -> Self {
        Self {
            path: member.path.to_string(),
            agent: member.agent.as_ref().map(|agent| agent.0.clone()),
            status: member.status.clone(),
        }
    }
}

impl fmt::Display for OpenChild {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}`", self.path)?;
        match (&self.agent, &self.status) {
            (Some(agent), Some(status)) => write!(out, " ({agent}: {status})"),
            (Some(word), None) | (None, Some(word)) => write!(out, " ({word})"),
            (None, None) => Ok(()),
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
