//! Workflow steps as a row of cells.

use crate::bmad::sprint::{LedgerKey, LedgerPart};
use crate::tracked_artifact::TrackedArtifact;
use crate::workflow::{Next, Progress, Step, Unit, UnknownNext, WorkflowDefinition};
use std::{borrow::Cow, collections::BTreeMap};

const SEPARATOR: char = '\0';

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units<'a> {
    /// Separated by `\0`, which no file name has.
    pub names: Cow<'a, str>,
    pub states: Cow<'a, str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellState {
    Done,
    Skipped,
    Next,
    /// Skipped, but should be listed.
    Gap,
    /// Rightly skipped.
    Passed,
    Open,
}

impl CellState {
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

    /// Alternatives are joined with ` | `.
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

pub type EpicTitles = BTreeMap<u16, String>;

/// Sorted by path of their files; the first title of an epic counts.
pub fn epic_titles<'a>(titles: impl IntoIterator<Item = (u16, Cow<'a, str>)>) -> EpicTitles {
    let mut all = EpicTitles::new();
    for (epic, title) in titles {
        all.entry(epic).or_insert_with(|| title.into_owned());
    }
    all
}

/// In characters; longer headings are not titles.
const LONGEST: usize = 120;

/// From `Epic N: TITLE` in a file `epic…`; the first of an epic counts.
pub(super) fn of(artifact: &TrackedArtifact) -> Vec<(u16, Cow<'_, str>)> {
    let path = artifact.path();
    if !path.file_stem().starts_with("epic") {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(artifact.artifact().bytes());
    let headings = text.lines().filter_map(heading);
    let mut titles: Vec<(u16, Cow<'_, str>)> =
        headings.map(|(epic, title)| (epic, Cow::Owned(title))).collect();
    // `epic-3.md` may have its title in frontmatter only.
    if let Some((LedgerKey { epic, part: LedgerPart::Epic }, _)) = LedgerKey::of(path)
        && let Some(title) = artifact.state().title.as_ref().and_then(|title| title.filled())
    {
        titles.push((epic, Cow::Borrowed(title)));
    }
    titles
}

/// `## Epic 3: Lending`; a full stop or a dash may replace the colon.
fn heading(line: &str) -> Option<(u16, String)> {
    let rest = line.strip_prefix('#')?.trim_start_matches('#').trim_start().strip_prefix("Epic ")?;
    let digits = rest.len() - rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    let (number, rest) = rest.split_at(digits);
    let title = rest.trim_start().strip_prefix([':', '.', '-', '–', '—'])?.trim();
    let is_title = !title.is_empty() && title.chars().count() <= LONGEST;
    Some((number.parse().ok()?, title.to_owned())).filter(|_| is_title)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextSteps<'a> {
    /// With alternatives for special cases.
    Step(StepName<'a>, Vec<StepName<'a>>),
    Choice(Vec<StepName<'a>>),
    Finished,
    Unknown(UnknownNext),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepName<'a> {
    pub name: &'a str,
    pub file: Option<&'a str>,
}

impl<'a> NextSteps<'a> {
    pub fn of(next: Next<'a>) -> Self {
        let names = |steps: Vec<&'a Step>| steps.into_iter().map(StepName::of).collect();
        match next {
            Next::Step { step, alternatives } => Self::Step(StepName::of(step), names(alternatives)),
            Next::Choice(steps) => Self::Choice(names(steps)),
            Next::Finished => Self::Finished,
            Next::Unknown(why) => Self::Unknown(why),
        }
    }

    pub fn steps(&self) -> &[StepName<'a>] {
        match self {
            Self::Step(step, _) => std::slice::from_ref(step),
            Self::Choice(steps) => steps,
            Self::Finished | Self::Unknown(_) => &[],
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_stand_in_headings() {
        for (line, expected) in [
            ("## Epic 1: Lending tools", Some((1, "Lending tools"))),
            ("### Epic 12 – Bring it back  ", Some((12, "Bring it back"))),
            ("# Epic 3. Count", Some((3, "Count"))),
            ("## Epic 1", None),
            ("## Epic 1:", None),
            ("## Epics: all", None),
            ("Epic 1: no heading", None),
            ("## Epic one: Lending", None),
            ("## Epic 99999: too many", None),
        ] {
            assert_eq!(heading(line), expected.map(|(epic, title)| (epic, title.to_owned())), "{line}");
        }
    }
}
