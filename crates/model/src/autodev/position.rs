//! The position that the state file of autodev notes.

use std::fmt;

use serde_json::Value as Json;

use super::{Flow, Flows};
use crate::{
    artifact::{Artifact, ProjectPath, StateUnreadable, state_region},
    workflow::{Chain, StepId},
};
use stepmark_frontmatter::Region;

/// The position of autodev: the values below `## Current Step`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub flow: String,
    pub step: StepPlace,
    pub name: String,
    pub status: String,
    pub sub_step: SubStep,
    /// The number of retries one after another that failed.
    pub retry_count: u64,
    /// The round of a flow that goes round.
    pub cycle: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepPlace {
    Number(u16),
    /// A number that is not whole, as later releases of autodev write it. It is kept and never written.
    Fraction(String),
    Done,
}

/// The place inside the skill of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubStep {
    pub phase: u64,
    pub name: String,
    pub detail: String,
}

/// The name of phase 0: the skill is chained and has not begun.
pub const AWAITING: &str = "awaiting-invocation";

/// The words for the status of a step, as the lifecycle `autodev-step` has them.
pub const STATUSES: [&str; 5] = ["not_started", "in_progress", "completed", "skipped", "failed"];

/// The number of failed retries after which a step has failed.
pub const MOST_RETRIES: u64 = 3;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    #[error(transparent)]
    Unreadable(#[from] StateUnreadable),
    #[error("`{key}` should be {wanted}")]
    Key {
        /// The key: `sub_step.phase`.
        key: &'static str,
        /// The kind of value that belongs there.
        wanted: &'static str,
    },
    #[error("the flow `{flow}` is none of {}", known.join(", "))]
    UnknownFlow { flow: String, known: Vec<String> },
}

impl Position {
    pub fn of(artifact: &Artifact) -> Result<Self, PositionError> {
        let state = artifact.state_value()?;
        let text = |key: &'static str| {
            state[key].as_str().map(str::to_owned).ok_or(PositionError::Key { key, wanted: "a text" })
        };
        let whole = |key: &'static str, default: u64| match &state[key] {
            Json::Null => Ok(default),
            value => value.as_u64().ok_or(PositionError::Key { key, wanted: "a whole number" }),
        };
        Ok(Self {
            flow: text("flow")?,
            step: StepPlace::read(&state["step"])
                .ok_or(PositionError::Key { key: "step", wanted: "a number of a step, or `done`" })?,
            name: text("name")?,
            status: text("status")?,
            sub_step: SubStep::read(&state["sub_step"])?,
            retry_count: whole("retry_count", 0)?,
            cycle: whole("cycle", 1)?,
        })
    }

    pub fn flow<'f>(&self, flows: &'f Flows) -> Result<&'f Flow, PositionError> {
        flows.find(&self.flow)
    }

    pub fn has_known_status(&self) -> bool {
        STATUSES.contains(&self.status.as_str())
    }

    pub fn is_open(&self) -> bool {
        matches!(self.status.as_str(), "not_started" | "in_progress" | "failed")
    }

    pub fn steps_done(&self, all: usize) -> usize {
        match self.step {
            StepPlace::Number(number) => {
                usize::from(number).saturating_sub(usize::from(self.is_open())).min(all)
            }
            StepPlace::Fraction(ref text) => {
                text.split('.').next().and_then(|whole| whole.parse().ok()).unwrap_or(0).min(all)
            }
            StepPlace::Done => all,
        }
    }
}

impl StepPlace {
    pub(crate) fn read(value: &Json) -> Option<Self> {
        match value {
            Json::Number(number) => match number.as_u64() {
                Some(whole) => u16::try_from(whole).ok().map(Self::Number),
                None => number
                    .as_f64()
                    .filter(|fraction| *fraction > 0.0)
                    .map(|_| Self::Fraction(number.to_string())),
            },
            Json::String(text) if text == "done" => Some(Self::Done),
            _ => None,
        }
    }
}

impl fmt::Display for StepPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(out),
            Self::Fraction(text) => out.write_str(text),
            Self::Done => out.write_str("done"),
        }
    }
}

impl SubStep {
    /// The place of a skill that has not begun.
    pub fn awaiting() -> Self {
        Self { phase: 0, name: AWAITING.to_owned(), detail: String::new() }
    }

    fn read(value: &Json) -> Result<Self, PositionError> {
        let error = |key, wanted| PositionError::Key { key, wanted };
        if !value.is_object() {
            return Err(error("sub_step", "a mapping with `phase` and `name`"));
        }
        Ok(Self {
            phase: value["phase"].as_u64().ok_or(error("sub_step.phase", "a whole number"))?,
            name: value["name"].as_str().ok_or(error("sub_step.name", "a text"))?.to_owned(),
            detail: match &value["detail"] {
                Json::Null => String::new(),
                detail => detail.as_str().ok_or(error("sub_step.detail", "a text"))?.to_owned(),
            },
        })
    }
}

pub fn keeps_state(path: &ProjectPath) -> bool {
    state_region(path) != Region::Frontmatter
}

/// Returns whether `artifact` is a state file whose flow has ended.
pub fn is_done(artifact: &Artifact) -> bool {
    keeps_state(artifact.path())
        && Position::of(artifact).is_ok_and(|position| position.step == StepPlace::Done)
}

/// The steps of `chain`, those of a flow, that lie behind the position in `artifact`; none where it says no
/// position.
pub fn steps_passed(artifact: &Artifact, chain: &Chain) -> Vec<StepId> {
    let position = Position::of(artifact).ok();
    let count = position.map_or(0, |position| position.steps_done(chain.steps().len()));
    chain.steps().iter().take(count).map(|step| step.id.clone()).collect()
}

/// Returns whether `name` is in kebab-case: `batch-loop`.
pub fn is_kebab_case(name: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.split('-').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(in crate::autodev) fn read(block: &str) -> Result<Position, PositionError> {
        let text = format!("# Autodev State\n\n## Current Step\n{block}");
        Position::of(&Artifact::read(ProjectPath::new("_docs/_autodev_state.md").unwrap(), text.into_bytes()))
    }

    #[test]
    fn a_position_is_what_the_block_says() {
        let position = read(
            "flow: existing-code\nstep: 10\nname: Implement\nstatus: in_progress\nsub_step:\n  phase: 7\n  name: batch-loop\n  \
             detail: \"batch 2 of ~4\"\nretry_count: 0\ncycle: 3\n",
        )
        .unwrap();
        assert_eq!((position.step.clone(), position.cycle), (StepPlace::Number(10), 3));
        assert_eq!(position.sub_step.detail, "batch 2 of ~4");
        assert_eq!(position.steps_done(17), 9);
    }

    #[test]
    fn what_says_no_position_is_refused_with_the_key() {
        let whole =
            "flow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step: {phase: 0, name: a}\n";
        assert!(read(whole).is_ok());
        for (from, to, wanted) in [
            ("step: 3", "step: three", "`step` should be"),
            ("step: 3", "step: -1", "`step` should be"),
            ("name: Plan\n", "", "`name` should be"),
            ("{phase: 0, name: a}", "none", "`sub_step` should be"),
            ("phase: 0", "phase: 1.5", "`sub_step.phase` should be"),
            ("flow: greenfield", "flow: [", "no YAML"),
        ] {
            let error = read(&whole.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(wanted), "{to}: {error}");
        }
        assert_eq!(
            read(&whole.replace("step: 3", "step: 2.5")).unwrap().step,
            StepPlace::Fraction("2.5".into())
        );
        assert_eq!(read(&whole.replace("step: 3", "step: done")).unwrap().step, StepPlace::Done);
    }

    #[test]
    fn kebab_case_has_small_letters_digits_and_single_hyphens() {
        for (name, expected) in [
            ("batch-loop", true),
            ("a1", true),
            ("", false),
            ("a--b", false),
            ("Batch", false),
            ("a_b", false),
        ] {
            assert_eq!(is_kebab_case(name), expected, "{name}");
        }
    }
}
