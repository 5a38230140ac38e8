//! Severities of rules in a project.

use std::{collections::BTreeMap, fmt, str::FromStr};

use crate::check::{Finding, Rule, Severity};

/// The level of a rule in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// Its findings are not reported.
    Off,
    /// Its findings are this bad.
    At(Severity),
}

/// A text that is no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a rule is set to `off`, `note`, `warning` or `error`, not to `{text}`")]
pub struct LevelError {
    /// The text.
    pub text: String,
}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(text: &str) -> Result<Self, LevelError> {
        match text {
            "off" => Ok(Self::Off),
            "note" => Ok(Self::At(Severity::Note)),
            "warning" => Ok(Self::At(Severity::Warning)),
            "error" => Ok(Self::At(Severity::Error)),
            _ => Err(LevelError { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => out.write_str("off"),
            Self::At(severity) => severity.fmt(out),
        }
    }
}

/// The levels of a project; rules that it does not name are as bad as they say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels(BTreeMap<&'static str, Level>);

impl Levels {
    /// The level of a rule.
    pub fn of(&self, rule: &Rule) -> Level {
        self.0.get(rule.id).copied().unwrap_or(Level::At(rule.severity))
    }

    /// Gives `finding` the severity of its rule in the project; `false` where the rule is off.
    pub(super) fn apply(&self, finding: &mut Finding) -> bool {
        match self.0.get(finding.rule.id) {
            None => true,
            Some(Level::Off) => false,
            Some(Level::At(severity)) => {
                finding.severity = *severity;
                true
            }
        }
    }
}

impl FromIterator<(&'static Rule, Level)> for Levels {
    /// The last level of a rule counts.
    fn from_iter<I: IntoIterator<Item = (&'static Rule, Level)>>(levels: I) -> Self {
        Self(levels.into_iter().map(|(rule, level)| (rule.id, level)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_shown_as_it_is_written() {
        for text in ["off", "note", "warning", "error"] {
            assert_eq!(text.parse::<Level>().unwrap().to_string(), text);
        }
        for text in ["", "Off", "warn", "errors"] {
            assert_eq!(text.parse::<Level>(), Err(LevelError { text: text.to_owned() }));
        }
    }
}
