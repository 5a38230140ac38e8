//! Reading a note.

use std::borrow::Cow;

use jiff::Timestamp;

use super::{Brief, InChain, Place, Surroundings, TRACKS, UNKNOWN, WORK_STATES};
use crate::checking::cache::key::HALF;
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

#[derive(Clone, Debug, Default)]
pub(crate) struct NoteReader<'a> {
    bytes: &'a [u8],
    texts: &'a [Box<str>],
}

impl<'a> NoteReader<'a> {
    pub(crate) const fn new(bytes: &'a [u8], texts: &'a [Box<str>]) -> Self {
        Self { bytes, texts }
    }

    /// Returns what decides whether and where the artifact is shown.
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

    /// Reads the number of the items that follow: each has a byte at least.
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
