//! What comes next, by name.

use crate::workflow::{Next, Step, UnknownNext};

/// What comes next in a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextSteps<'a> {
    /// This step; the others may be taken instead, in special cases.
    Step(StepName<'a>, Vec<StepName<'a>>),
    /// One of these, at the person's choice.
    Choice(Vec<StepName<'a>>),
    /// Nothing: the end is reached.
    Finished,
    /// It cannot be told.
    Unknown(UnknownNext),
}

/// A step and its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepName<'a> {
    /// Its name.
    pub name: &'a str,
    /// The file to read for it, where it has one.
    pub file: Option<&'a str>,
}

impl<'a> NextSteps<'a> {
    /// Returns the names of what comes `next`.
    pub fn of(next: Next<'a>) -> Self {
        let names = |steps: Vec<&'a Step>| steps.into_iter().map(StepName::of).collect();
        match next {
            Next::Step { step, alternatives } => Self::Step(StepName::of(step), names(alternatives)),
            Next::Choice(steps) => Self::Choice(names(steps)),
            Next::Finished => Self::Finished,
            Next::Unknown(why) => Self::Unknown(why),
        }
    }

    /// Returns the steps that come next; several where one is to be chosen.
    pub fn steps(&self) -> &[StepName<'a>] {
        match self {
            Self::Step(step, _) => std::slice::from_ref(step),
            Self::Choice(steps) => steps,
            Self::Finished | Self::Unknown(_) => &[],
        }
    }

    /// Returns the steps that may be taken instead.
    pub fn alternatives(&self) -> &[StepName<'a>] {
        match self {
            Self::Step(_, alternatives) => alternatives,
            _ => &[],
        }
    }
}

impl<'a> StepName<'a> {
    fn of(step: &'a Step) -> Self {
        Self { name: step.name(), file: step.path.as_ref().map(|path| path.as_str()) }
    }
}
