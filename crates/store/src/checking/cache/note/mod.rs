//! An artifact's summary in the cache, after its number of problems.
//!
//! Texts that many artifacts share, such as step names, are stored once, in [`SharedTexts`]. A note is read
//! only as far as needed; invalid bytes read as empty, but the cache, being whole and of the same program,
//! has none.

mod writer;

use std::borrow::Cow;

use super::key::{HALF, half};
use jiff::Timestamp;
use stepmark_model::{
    artifact::{Delegation, Kind, ProjectPath},
    check::ProblemCounts,
    delegation::{Agent, Completion, Member},
    summary::{
        ArtifactSummary, Condition, LifecycleSummary, NextSteps, ProgressSummary, StepName, Units,
        WorkflowName,
    },
    workflow::{Track, UnknownNext, WorkState},
};

pub(super) use writer::{NoteWriter, with_problems};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brief<'a> {
    pub problems: ProblemCounts,
    pub condition: Condition,
    pub has_workflow_state: bool,
    pub waits_for_import: bool,
    pub has_progress: bool,
    pub workflow: WorkflowName<'a>,
    pub kind: Option<&'static Kind>,
}

impl<'a> Brief<'a> {
    pub(crate) fn of(
        summary: &ArtifactSummary<'a>,
        problems: ProblemCounts,
        has_workflow_state: bool,
    ) -> Self {
        Self {
            problems,
            condition: summary.condition,
            has_workflow_state,
            waits_for_import: summary.waits_for_import,
            has_progress: summary.progress.is_some(),
            workflow: summary.workflow.clone(),
            kind: summary.kind,
        }
    }
}

const TRACKS: [Track; 3] = [Track::Create, Track::Edit, Track::Validate];
const WORK_STATES: [WorkState; 4] =
    [WorkState::NotStarted, WorkState::Interrupted, WorkState::Underway, WorkState::Finished];
const UNKNOWN: [UnknownNext; 2] = [UnknownNext::NoSteps, UnknownNext::NothingMatches];

pub(crate) fn surroundings(text: &str) -> Surroundings {
    half(text.as_bytes())
}

type Surroundings = [u8; HALF];

#[derive(Debug)]
struct Place<'a> {
    id: Option<&'a str>,
    parent: Option<&'a str>,
    in_chain: Option<InChain<'a>>,
}

#[derive(Debug)]
struct InChain<'a> {
    has_delegation: bool,
    completion: Completion,
    delegation_id: Option<&'a str>,
    surroundings: Surroundings,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct NoteReader<'a> {
    bytes: &'a [u8],
    texts: &'a [Box<str>],
}

impl<'a> NoteReader<'a> {
    pub(crate) const fn new(bytes: &'a [u8], texts: &'a [Box<str>]) -> Self {
        Self { bytes, texts }
    }

    pub(crate) fn brief(&mut self) -> Brief<'a> {
        let (problems, _) = (self.problems(), self.place());
        self.brief_with(problems)
    }

    pub(crate) fn id(&mut self) -> Option<&'a str> {
        self.problems();
        self.place().id
    }

    pub(crate) fn surroundings(&mut self) -> Option<Surroundings> {
        self.problems();
        Some(self.place().in_chain?.surroundings)
    }

    pub(crate) fn member(self, path: &'a ProjectPath) -> Member {
        let mut head = self.clone();
        head.problems();
        let (place, summary) = (head.place(), self.summary(path));
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let in_chain = place.in_chain.as_ref();
        let delegated = in_chain.filter(|in_chain| in_chain.has_delegation);
        let has_agent = delegated.is_some() || summary.kind.is_some();
        Member {
            path: path.clone(),
            identity: owned(place.id),
            delegation: delegated.map(|own| Delegation::of_ids(own.delegation_id, place.parent)),
            completion: in_chain.map(|in_chain| in_chain.completion).unwrap_or_default(),
            status: owned(summary.status),
            progress: summary.progress.map(|progress| (progress.done, progress.total)),
            kind: summary.kind,
            title: owned(summary.title),
            agent: summary.agent.filter(|_| has_agent).map(|name| Agent(name.into_owned())),
        }
    }

    fn problems(&mut self) -> ProblemCounts {
        let mut next = || self.number();
        ProblemCounts { errors: next(), warnings: next(), notes: next() }
    }

    fn place(&mut self) -> Place<'a> {
        let (id, parent, is_member) = (self.text(), self.text(), self.number() == 1);
        Place { id, parent, in_chain: is_member.then(|| self.in_chain()) }
    }

    fn in_chain(&mut self) -> InChain<'a> {
        let [has_delegation, by_workflow, by_status] =
            [self.number(), self.number(), self.number()].map(|flag| flag == 1);
        let completion = Completion { by_workflow, by_status };
        let delegation_id = self.text();
        let (surroundings, rest) = self.bytes.split_first_chunk().unwrap_or((&[0; HALF], &[]));
        self.bytes = rest;
        InChain { has_delegation, completion, delegation_id, surroundings: *surroundings }
    }

    fn brief_with(&mut self, problems: ProblemCounts) -> Brief<'a> {
        let mut next = || self.number();
        let condition = Condition::ALL.get(next()).copied().unwrap_or(Condition::Unknown);
        let [has_workflow_state, waits_for_import, has_progress] =
            [next(), next(), next()].map(|flag| flag == 1);
        let workflow = self.workflow();
        let kind = self.number().checked_sub(1).and_then(|place| Kind::all().get(place).copied());
        Brief { problems, condition, has_workflow_state, waits_for_import, has_progress, workflow, kind }
    }

    pub(crate) fn summary(mut self, path: &'a ProjectPath) -> ArtifactSummary<'a> {
        self.problems();
        let (Place { id, parent, .. }, brief) = (self.place(), self.brief_with(ProblemCounts::default()));
        ArtifactSummary {
            path,
            kind: brief.kind,
            workflow: brief.workflow,
            condition: brief.condition,
            waits_for_import: brief.waits_for_import,
            progress: brief.has_progress.then(|| self.progress()),
            title: self.text(),
            heading: self.text().map(Cow::Borrowed),
            id,
            completed: self.list(),
            status: self.text(),
            body_status: self.text(),
            lifecycle: self.lifecycle(),
            scope: self.text(),
            agent: self.text().map(Cow::Borrowed),
            parent,
            updated: self.moment(),
            epic_titles: self.epic_titles(),
            ticket: None,
            is_readable: self.number() == 1,
        }
    }

    fn workflow(&mut self) -> WorkflowName<'a> {
        match self.number() {
            0 => WorkflowName::Unknown,
            1 => WorkflowName::Missing(self.text().unwrap_or_default()),
            2 => WorkflowName::Ambiguous(self.list()),
            track => {
                let track = TRACKS.get(track - 3).copied().unwrap_or(Track::Create);
                WorkflowName::Known(self.text().unwrap_or_default(), track)
            }
        }
    }

    fn progress(&mut self) -> ProgressSummary<'a> {
        let (done, total) = (self.number(), self.number());
        let state = WORK_STATES.get(self.number()).copied().unwrap_or(WorkState::NotStarted);
        let next = match self.number() {
            3 => {
                let step = self.steps().pop().unwrap_or(StepName { name: "", file: None });
                NextSteps::Step(step, self.steps())
            }
            2 => NextSteps::Choice(self.steps()),
            1 => NextSteps::Finished,
            _ => NextSteps::Unknown(UNKNOWN.get(self.number()).copied().unwrap_or(UnknownNext::NoSteps)),
        };
        let [names, states] = [self.text(), self.text()].map(|text| Cow::Borrowed(text.unwrap_or_default()));
        ProgressSummary { done, total, state, next, units: Units { names, states } }
    }

    fn lifecycle(&mut self) -> Option<LifecycleSummary<'a>> {
        let name = self.text()?;
        let state = self.text().map(Cow::Borrowed);
        let rank = self.number().checked_sub(1).and_then(|rank| u32::try_from(rank).ok());
        let next = self.text().map(Cow::Borrowed);
        let command = self.text().map(Cow::Borrowed);
        Some(LifecycleSummary { name, state: state.map(|state| (state, rank)), next, command })
    }

    fn epic_titles(&mut self) -> Vec<(u16, Cow<'a, str>)> {
        let count = self.count();
        let title = |_| {
            let epic = u16::try_from(self.number()).unwrap_or_default();
            (epic, Cow::Borrowed(self.text().unwrap_or_default()))
        };
        (0..count).map(title).collect()
    }

    fn steps(&mut self) -> Vec<StepName<'a>> {
        let count = self.count();
        let step = |_| StepName { name: self.text().unwrap_or_default(), file: self.text() };
        (0..count).map(step).collect()
    }

    fn list(&mut self) -> Vec<&'a str> {
        (0..self.count()).map(|_| self.text().unwrap_or_default()).collect()
    }

    /// The number of items; each takes at least a byte.
    fn count(&mut self) -> usize {
        self.number().min(self.bytes.len())
    }

    fn text(&mut self) -> Option<&'a str> {
        let number = self.number();
        if number == 0 {
            return None;
        }
        if number.is_multiple_of(2) {
            return self.texts.get(number / 2 - 1).map(|text| &**text);
        }
        let (text, rest) = self.bytes.split_at_checked(number / 2)?;
        self.bytes = rest;
        std::str::from_utf8(text).ok()
    }

    fn moment(&mut self) -> Option<Timestamp> {
        if self.number() == 0 {
            return None;
        }
        let (seconds, rest) = self.bytes.split_first_chunk()?;
        let (nanoseconds, rest) = rest.split_first_chunk()?;
        self.bytes = rest;
        Timestamp::new(i64::from_le_bytes(*seconds), i32::from_le_bytes(*nanoseconds)).ok()
    }

    fn number(&mut self) -> usize {
        let mut number = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let Some((byte, rest)) = self.bytes.split_first() else { return 0 };
            self.bytes = rest;
            number |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::checking::cache::key::{self, SharedTexts};
    use stepmark_model::{
        artifact::{Delegation, ProjectPath},
        delegation::{Agent, Member},
        summary::{LifecycleSummary, NextSteps, ProgressSummary, StepName, Units},
    };

    fn summary<'a>(path: &'a ProjectPath, text: &'a str, number: usize) -> ArtifactSummary<'a> {
        let step = StepName { name: text, file: number.is_multiple_of(2).then_some("steps/step-01.md") };
        let next = [
            NextSteps::Step(step, vec![step; number % 3]),
            NextSteps::Choice(vec![step; number % 4]),
            NextSteps::Finished,
            NextSteps::Unknown(UNKNOWN[number % 2]),
        ];
        let workflow = [
            WorkflowName::Known(text, TRACKS[number % 3]),
            WorkflowName::Ambiguous(vec![text, "other"]),
            WorkflowName::Missing(text),
            WorkflowName::Unknown,
        ];
        let units = Units { names: text.into(), states: "dsngpo".into() };
        let progress = ProgressSummary {
            done: number,
            total: number / 2,
            state: WORK_STATES[number % 4],
            next: next[number % 4].clone(),
            units,
        };
        let state = Some((Cow::Borrowed(text), u32::try_from(number).ok()));
        ArtifactSummary {
            path,
            kind: Kind::all().get(number % 8).copied(),
            title: Some(text),
            heading: None,
            id: number.is_multiple_of(2).then_some(text),
            workflow: workflow[number % 4].clone(),
            progress: (!number.is_multiple_of(5)).then_some(progress),
            completed: vec![text; number % 6],
            status: Some(text),
            body_status: None,
            lifecycle: (!number.is_multiple_of(3)).then_some(LifecycleSummary {
                name: "l",
                state,
                next: None,
                command: number.is_multiple_of(5).then_some(text.into()),
            }),
            scope: Some("large"),
            agent: Some(text.into()),
            parent: (number % 2 == 1).then_some(text),
            updated: Timestamp::from_nanosecond(i128::try_from(number).unwrap_or(0) * -1_000_000_007).ok(),
            condition: Condition::ALL[number % 8],
            waits_for_import: number.is_multiple_of(2),
            epic_titles: vec![(7, text.into()); number % 2],
            ticket: None,
            is_readable: number % 2 == 1,
        }
    }

    proptest! {
        #[test]
        fn a_note_says_what_was_written(text in ".{0,40}", number in 0_usize..70_000, errors: u16) {
            let path = ProjectPath::new("docs/a.md").unwrap();
            let (summary, known) = (summary(&path, &text, number), ["l".into(), "large".into()]);
            let problems = ProblemCounts { errors: errors.into(), warnings: number, notes: 0 };
            let shared = SharedTexts::new(&known);
            let delegation = (number % 7 < 5).then(|| Delegation::of_ids(Some("d"), summary.parent));
            let own = Member {
                path: path.clone(),
                identity: summary.id.map(str::to_owned),
                agent: (delegation.is_some() || summary.kind.is_some()).then(|| Agent(text.clone())),
                delegation,
                completion: Completion { by_workflow: number % 2 == 1, by_status: number % 3 == 1 },
                status: Some(text.clone()),
                progress: summary.progress.as_ref().map(|progress| (progress.done, progress.total)),
                title: Some(text.clone()),
                kind: summary.kind,
            };
            let member = (number % 5 < 4).then(|| (&own, surroundings(&text)));
            let note = with_problems(problems, &NoteWriter::write(&summary, member, number.is_multiple_of(2), &shared));
            let texts = key::read(&shared.to_bytes()).unwrap();
            prop_assert_eq!(&texts[..2], &known);
            let reader = NoteReader::new(&note, &texts);
            prop_assert_eq!(reader.clone().brief(), Brief::of(&summary, problems, number.is_multiple_of(2)));
            prop_assert_eq!(reader.clone().id(), summary.id);
            prop_assert_eq!(reader.clone().surroundings(), member.map(|(_, around)| around));
            if let Some((member, _)) = member {
                prop_assert_eq!(&reader.clone().member(&path), member);
            }
            prop_assert_eq!(reader.summary(&path), summary);
        }

        #[test]
        fn other_bytes_are_read_to_their_end(bytes: Vec<u8>) {
            let path = ProjectPath::new("docs/a.md").unwrap();
            let _ = NoteReader::new(&bytes, &["a".into()]).member(&path);
            let _ = key::read(&bytes);
        }
    }
}
