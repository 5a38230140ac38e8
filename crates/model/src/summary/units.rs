//! The steps of a workflow as a row of cells.

use std::borrow::Cow;

use crate::workflow::{Next, Progress, Step, Unit, WorkflowDefinition};

/// Stands between names.
const SEPARATOR: char = '\0';

/// The units of an artifact's workflow, in order: names and states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units<'a> {
    /// The names, with `\0` between them, which no name of a file holds.
    pub names: Cow<'a, str>,
    /// A letter for the state of each.
    pub states: Cow<'a, str>,
}

/// Where a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellState {
    /// Done.
    Done,
    /// Marked as skipped, which counts as done.
    Skipped,
    /// What comes next.
    Next,
    /// Before the furthest done one, and not listed though it should be.
    Gap,
    /// Before the furthest done one, and rightly not listed.
    Passed,
    /// To come.
    Open,
}

impl CellState {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Skipped => "skipped",
            Self::Next => "next",
            Self::Gap => "missing",
            Self::Passed => "passed",
            Self::Open => "open",
        }
    }

    const fn letter(self) -> char {
        match self {
            Self::Done => 'd',
            Self::Skipped => 's',
            Self::Next => 'n',
            Self::Gap => 'g',
            Self::Passed => 'p',
            Self::Open => 'o',
        }
    }

    const fn of_letter(letter: char) -> Self {
        match letter {
            'd' => Self::Done,
            's' => Self::Skipped,
            'n' => Self::Next,
            'g' => Self::Gap,
            'p' => Self::Passed,
            _ => Self::Open,
        }
    }
}

impl<'a> Units<'a> {
    /// Returns the units of `workflow` with the states that `progress` gives them.
    pub(super) fn of(workflow: &WorkflowDefinition, progress: &Progress<'_>) -> Self {
        let (mut names, mut states) = (String::new(), String::new());
        for unit in workflow.chain.units() {
            let members: &[&Step] = match &unit {
                Unit::Step(step) => std::slice::from_ref(step),
                Unit::Choice(steps) => steps,
            };
            if !states.is_empty() {
                names.push(SEPARATOR);
            }
            for (place, step) in members.iter().enumerate() {
                names.push_str(if place == 0 { "" } else { " | " });
                names.extend(step.name().chars().filter(|one| *one != SEPARATOR));
            }
            states.push(state_of(members, progress).letter());
        }
        Self { names: Cow::Owned(names), states: Cow::Owned(states) }
    }

    /// Returns each name, where alternatives are joined with ` | `, with its state.
    pub fn iter(&self) -> impl Iterator<Item = (&str, CellState)> {
        self.names.split(SEPARATOR).zip(self.states.chars().map(CellState::of_letter))
    }
}

fn state_of(members: &[&Step], progress: &Progress<'_>) -> CellState {
    let is_among =
        |steps: &[&Step]| steps.iter().any(|step| members.iter().any(|own| std::ptr::eq(*own, *step)));
    let done = progress.done.iter().find(|item| is_among(&item.steps));
    let is_next = match &progress.next {
        Next::Step { step, .. } => is_among(&[*step]),
        Next::Choice(steps) => is_among(steps),
        Next::Finished | Next::Unknown(_) => false,
    };
    match done {
        Some(item) if item.skipped => CellState::Skipped,
        Some(_) => CellState::Done,
        None if is_next => CellState::Next,
        None if is_among(&progress.gaps) => CellState::Gap,
        None if is_among(&progress.passed) => CellState::Passed,
        None => CellState::Open,
    }
}
