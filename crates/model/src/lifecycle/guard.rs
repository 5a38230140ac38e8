//! Conditions of moves.

use std::{fmt, str::FromStr};

use crate::artifact::parsed_scalar::{deserialize_as_scalar, schema_of_scalar};

/// A condition of a move on the artifact. The set is closed: what is judged must stand in files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// `steps-finished`: no step of its workflow is open. Holds where its workflow is unknown.
    StepsFinished,
    /// `children-finished`: no work that was delegated from it is open.
    ChildrenFinished,
    /// `human`: a person makes the move.
    Human,
    /// `filled(KEY)`: the frontmatter says something under KEY.
    Filled(String),
}

impl fmt::Display for Guard {
    /// As it is written in a table.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StepsFinished => out.write_str("steps-finished"),
            Self::ChildrenFinished => out.write_str("children-finished"),
            Self::Human => out.write_str("human"),
            Self::Filled(key) => write!(out, "filled({key})"),
        }
    }
}

impl FromStr for Guard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let filled = || text.strip_prefix("filled(")?.strip_suffix(')').map(str::trim);
        match text {
            "steps-finished" => Ok(Self::StepsFinished),
            "children-finished" => Ok(Self::ChildrenFinished),
            "human" => Ok(Self::Human),
            _ => match filled() {
                Some(key) if !key.is_empty() => Ok(Self::Filled(key.to_owned())),
                _ => Err(format!(
                    "`{text}` is no guard: write `steps-finished`, `children-finished`, `human` or `filled(KEY)`"
                )),
            },
        }
    }
}

deserialize_as_scalar!(Guard);

schema_of_scalar!(Guard, {
    "description": "What a move wants of the artifact",
    "type": "string",
    "pattern": r"^(steps-finished|children-finished|human|filled\(\s*[^)\s][^)]*\))$",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_shows() {
        for text in ["steps-finished", "children-finished", "human", "filled(blocked_by)"] {
            assert_eq!(text.parse::<Guard>().unwrap().to_string(), text);
        }
        for text in ["", "filled", "filled()", "filled( )", "steps"] {
            assert!(text.parse::<Guard>().is_err(), "{text}");
        }
    }
}
