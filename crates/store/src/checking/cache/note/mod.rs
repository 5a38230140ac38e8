//! The summary of an artifact as it stands in the cache, behind how many problems it has.
//!
//! Texts that many artifacts have, such as the names of steps, stand once, in [`SharedTexts`]. A note is read
//! as far as it is asked for; of bytes that are none, everything is empty. The cache holds none: it is whole,
//! and of the same program.

mod writer;
mod reader;

pub(crate) use self::reader::NoteReader;
pub(super) use self::writer::{NoteWriter, with_problems};
use super::key::{HALF, half};
use stepmark_model::{
    artifact::Kind,
    check::ProblemCounts,
    delegation::Completion,
    summary::{ArtifactSummary, Condition, WorkflowName},
    workflow::{Track, UnknownNext, WorkState},
};

/// The facts about an artifact that decide whether and where it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brief<'a> {
    /// The number of problems that a check finds in it, by severity.
    pub problems: ProblemCounts,
    pub condition: Condition,
    /// Set where it takes part in a workflow.
    pub has_workflow_state: bool,
    pub waits_for_import: bool,
    /// Set where it is known how far it is in its workflow.
    pub has_progress: bool,
    pub workflow: WorkflowName<'a>,
    /// Its kind, where it is a record of a system.
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

/// The ids of an artifact, and its place in a chain.
#[derive(Debug)]
struct Place<'a> {
    id: Option<&'a str>,
    parent: Option<&'a str>,
    in_chain: Option<InChain<'a>>,
}

/// The rest of what others ask for of a member of chains.
#[derive(Debug)]
struct InChain<'a> {
    has_delegation: bool,
    completion: Completion,
    delegation_id: Option<&'a str>,
    surroundings: Surroundings,
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
