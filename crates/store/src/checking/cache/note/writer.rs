//! Writing a note.

use jiff::Timestamp;

use super::{Surroundings, TRACKS, UNKNOWN, WORK_STATES};
use crate::checking::cache::key::SharedTexts;
use stepmark_model::{
    artifact::{Delegation, Kind},
    check::ProblemCounts,
    delegation::{Completion, Member},
    summary::{ArtifactSummary, Condition, NextSteps, ProgressSummary, StepName, WorkflowName},
};

pub(in super::super) struct NoteWriter<'t> {
    bytes: Vec<u8>,
    texts: &'t SharedTexts,
}

impl<'t> NoteWriter<'t> {
    /// Without its problems; `member` is its part in a chain, with its surroundings.
    pub(in super::super) fn write(
        summary: &ArtifactSummary<'_>,
        member: Option<(&Member, Surroundings)>,
        has_workflow_state: bool,
        texts: &'t SharedTexts,
    ) -> Vec<u8> {
        let mut note = Self { bytes: Vec::with_capacity(96), texts };
        note.own(summary.id);
        note.own(summary.parent);
        note.in_chain(member);
        note.number(place(&Condition::ALL, &summary.condition));
        let flags = [has_workflow_state, summary.waits_for_import, summary.progress.is_some()];
        flags.into_iter().for_each(|flag| note.number(usize::from(flag)));
        note.workflow(&summary.workflow);
        note.number(summary.kind.map_or(0, |kind| place(Kind::all(), &kind) + 1));
        if let Some(progress) = &summary.progress {
            note.progress(progress);
        }
        note.own(summary.title);
        note.own(summary.heading.as_deref());
        note.list(&summary.completed);
        [summary.status, summary.body_status].into_iter().for_each(|text| note.shared(text));
        note.shared(summary.lifecycle.as_ref().map(|lifecycle| lifecycle.name));
        if let Some(lifecycle) = &summary.lifecycle {
            note.shared(lifecycle.state.as_ref().map(|(name, _)| &**name));
            let rank = lifecycle.state.as_ref().and_then(|(_, rank)| *rank);
            note.number(rank.map_or(0, |rank| rank as usize + 1));
            note.shared(lifecycle.next.as_deref());
            note.shared(lifecycle.command.as_deref());
        }
        note.shared(summary.scope);
        note.shared(summary.agent.as_deref());
        note.moment(summary.updated);
        note.number(summary.epic_titles.len());
        for (epic, title) in &summary.epic_titles {
            note.number(usize::from(*epic));
            note.own(Some(title));
        }
        note.number(usize::from(summary.is_readable));
        note.bytes
    }

    fn in_chain(&mut self, member: Option<(&Member, Surroundings)>) {
        let Some((member, surroundings)) = member else { return self.number(0) };
        let Completion { by_workflow, by_status } = member.completion;
        let flags = [true, member.delegation.is_some(), by_workflow, by_status];
        flags.into_iter().for_each(|flag| self.number(usize::from(flag)));
        self.own(member.delegation.as_ref().and_then(Delegation::id));
        self.bytes.extend_from_slice(&surroundings);
    }

    fn workflow(&mut self, workflow: &WorkflowName<'_>) {
        match workflow {
            WorkflowName::Known(name, track) => {
                self.number(3 + place(&TRACKS, track));
                self.shared(Some(name));
            }
            WorkflowName::Ambiguous(candidates) => {
                self.number(2);
                self.list(candidates);
            }
            WorkflowName::Missing(name) => {
                self.number(1);
                self.shared(Some(name));
            }
            WorkflowName::Unknown => self.number(0),
        }
    }

    fn progress(&mut self, progress: &ProgressSummary<'_>) {
        let numbers = [progress.done, progress.total, place(&WORK_STATES, &progress.state)];
        numbers.into_iter().for_each(|number| self.number(number));
        match &progress.next {
            NextSteps::Step(step, alternatives) => {
                self.number(3);
                self.steps(std::slice::from_ref(step));
                self.steps(alternatives);
            }
            NextSteps::Choice(steps) => {
                self.number(2);
                self.steps(steps);
            }
            NextSteps::Finished => self.number(1),
            NextSteps::Unknown(why) => {
                self.number(0);
                self.number(place(&UNKNOWN, why));
            }
        }
        self.shared(Some(&progress.units.names));
        self.shared(Some(&progress.units.states));
    }

    fn steps(&mut self, steps: &[StepName<'_>]) {
        self.number(steps.len());
        for step in steps {
            self.shared(Some(step.name));
            self.shared(step.file);
        }
    }

    fn list(&mut self, texts: &[&str]) {
        self.number(texts.len());
        texts.iter().for_each(|text| self.shared(Some(text)));
    }

    fn shared(&mut self, text: Option<&str>) {
        match text.and_then(|text| self.texts.number(text)) {
            Some(number) => self.number((number + 1) * 2),
            None => self.own(text),
        }
    }

    fn own(&mut self, text: Option<&str>) {
        self.number(text.map_or(0, |text| text.len() * 2 + 1));
        self.bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
    }

    fn moment(&mut self, moment: Option<Timestamp>) {
        self.number(usize::from(moment.is_some()));
        if let Some(moment) = moment {
            self.bytes.extend_from_slice(&moment.as_second().to_le_bytes());
            self.bytes.extend_from_slice(&moment.subsec_nanosecond().to_le_bytes());
        }
    }

    fn number(&mut self, number: usize) {
        push_number(&mut self.bytes, number);
    }
}

pub(in super::super) fn with_problems(problems: ProblemCounts, rest: &[u8]) -> Vec<u8> {
    let mut note = Vec::with_capacity(rest.len() + 3);
    let counts = [problems.errors, problems.warnings, problems.notes];
    counts.into_iter().for_each(|count| push_number(&mut note, count));
    note.extend_from_slice(rest);
    note
}

/// LEB128: seven bits a byte.
fn push_number(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(low_bits(number) | 0x80);
        number >>= 7;
    }
    bytes.push(low_bits(number));
}

fn low_bits(number: usize) -> u8 {
    u8::try_from(number & 0x7f).unwrap_or_default()
}

fn place<T: PartialEq>(all: &[T], one: &T) -> usize {
    all.iter().position(|other| other == one).unwrap_or_default()
}
