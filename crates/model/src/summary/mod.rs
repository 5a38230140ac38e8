//! Facts about an artifact for lists, tables and groups; borrowed from the artifact or a cache.

mod units;

use std::borrow::Cow;

use crate::{
    artifact::{Field, Kind, ProjectPath, Scope},
    bmad::{
        sprint::LedgerKey,
        tickets::{TicketGroup, TicketTree},
    },
    lifecycle::{Lifecycle, LifecycleState},
    selection::FieldValue,
    tracked_artifact::{Membership, TrackedArtifact},
    workflow::{Track, WorkState},
};
use jiff::Timestamp;

pub use units::{CellState, EpicTitles, NextSteps, StepName, Units, epic_titles};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactSummary<'a> {
    pub path: &'a ProjectPath,
    pub kind: Option<&'static Kind>,
    pub title: Option<&'a str>,
    /// If it has no title.
    pub heading: Option<Cow<'a, str>>,
    /// Its own, else the one from `track`.
    pub id: Option<&'a str>,
    pub workflow: WorkflowName<'a>,
    pub progress: Option<ProgressSummary<'a>>,
    /// As written.
    pub completed: Vec<&'a str>,
    pub status: Option<&'a str>,
    pub body_status: Option<&'a str>,
    pub lifecycle: Option<LifecycleSummary<'a>>,
    pub scope: Option<&'a str>,
    pub agent: Option<Cow<'a, str>>,
    pub parent: Option<&'a str>,
    pub updated: Option<Timestamp>,
    pub condition: Condition,
    /// A story with its status in the body or the sprint status only.
    pub waits_for_import: bool,
    pub epic_titles: Vec<(u16, Cow<'a, str>)>,
    pub ticket: Option<TicketPlace>,
    /// If not, only its path is known.
    pub is_readable: bool,
}

/// For tickets of BMAD 7.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketPlace {
    /// For commands: `1.2`.
    pub reference: String,
    pub epic: String,
    /// In the build order.
    pub order: usize,
    /// Empty if the ticket may proceed.
    pub hindrance: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkflowName<'a> {
    Known(&'a str, Track),
    Ambiguous(Vec<&'a str>),
    Missing(&'a str),
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressSummary<'a> {
    pub done: usize,
    pub total: usize,
    pub state: WorkState,
    pub next: NextSteps<'a>,
    pub units: Units<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifecycleSummary<'a> {
    pub name: &'a str,
    /// With rank; `None`: unknown to the lifecycle.
    pub state: Option<(Cow<'a, str>, Option<u32>)>,
    pub next: Option<Cow<'a, str>>,
    /// `ID` stands for the id, or the path.
    pub command: Option<Cow<'a, str>>,
}

impl<'a> ArtifactSummary<'a> {
    pub fn of(artifact: &'a TrackedArtifact) -> Self {
        let state = artifact.state();
        let title = filled(&state.title);
        let heading = if title.is_none() { artifact.artifact().first_heading() } else { None };
        let updated = match FieldValue::latest_of(&state.times) {
            FieldValue::Time(moment) => Some(moment),
            _ => None,
        };
        Self {
            path: artifact.path(),
            kind: state.kind,
            title,
            heading: heading.map(Cow::Owned),
            id: filled(&state.id).or_else(|| filled(&state.stepmark_id)),
            workflow: WorkflowName::of(artifact.membership()),
            progress: ProgressSummary::of(artifact),
            completed: artifact.steps().completed().iter().map(|id| id.spelling()).collect(),
            status: filled(&state.status),
            body_status: state.body_status.as_ref().map(|status| &*status.text),
            lifecycle: LifecycleSummary::of(artifact),
            scope: filled(&state.scope),
            agent: filled(&state.agent).map(Cow::Borrowed),
            parent: state.delegation.as_ref().and_then(|delegation| delegation.parent_id()),
            updated,
            condition: Condition::of(artifact),
            waits_for_import: artifact.waits_for_import(),
            epic_titles: units::of(artifact),
            ticket: None,
            is_readable: artifact.artifact().is_readable(),
        }
    }

    pub fn story(&self) -> Option<LedgerKey> {
        let key = LedgerKey::of(self.path).filter(|_| self.kind.is_none()).map(|(key, _)| key);
        key.filter(|key| key.is_story())
    }

    /// `tree` knows more about the ticket than its file.
    pub fn of_ticket(self, tree: &'a TicketTree, order: usize) -> Self {
        let own = &tree.tickets()[order];
        let condition = match tree.group(own) {
            _ if tree.is_over(own) => Condition::Finished,
            Some(TicketGroup::Blocked) => Condition::Blocked,
            _ if self.status.is_none() => Condition::NotStarted,
            _ => self.condition,
        };
        let agent = Some(&*own.assignee).filter(|name| !name.is_empty());
        let ticket = TicketPlace {
            reference: tree.reference(own),
            epic: tree.folder(own).file_name().to_owned(),
            order,
            hindrance: tree.hindrance(own),
        };
        Self {
            title: self.title.or(Some(&own.title)),
            status: self.status.or(Some(own.state.as_str())),
            agent: self.agent.or(agent.map(Cow::Borrowed)),
            condition,
            ticket: Some(ticket),
            ..self
        }
    }

    pub fn scope(&self) -> Option<Scope> {
        self.scope.map(Scope::read)
    }
}

impl<'a> WorkflowName<'a> {
    fn of(membership: &'a Membership) -> Self {
        match membership {
            Membership::Member { workflow, .. } => Self::Known(&workflow.name, workflow.chain.track()),
            Membership::Ambiguous { candidates } => {
                Self::Ambiguous(candidates.iter().map(String::as_str).collect())
            }
            Membership::Missing { name } => Self::Missing(name),
            Membership::None => Self::Unknown,
        }
    }

    pub const fn known(&self) -> Option<&'a str> {
        match self {
            Self::Known(name, _) => Some(name),
            _ => None,
        }
    }

    /// With the track, unless it is the usual one; `-` if unknown.
    pub fn in_words(&self) -> Cow<'a, str> {
        match self {
            Self::Known(name, Track::Create) => Cow::Borrowed(name),
            Self::Known(name, track) => Cow::Owned(format!("{name} ({track})")),
            Self::Ambiguous(candidates) => Cow::Owned(format!("? {}", candidates.join(" | "))),
            Self::Missing(name) => Cow::Owned(format!("? {name}")),
            Self::Unknown => Cow::Borrowed("-"),
        }
    }
}

impl<'a> ProgressSummary<'a> {
    fn of(artifact: &'a TrackedArtifact) -> Option<Self> {
        let (workflow, progress) = (artifact.workflow()?, artifact.progress()?);
        Some(Self {
            done: progress.done_units,
            total: progress.total,
            state: progress.state,
            units: Units::of(workflow, &progress),
            next: NextSteps::of(progress.next),
        })
    }
}

impl<'a> LifecycleSummary<'a> {
    fn of(artifact: &'a TrackedArtifact) -> Option<Self> {
        let lifecycle = &artifact.lifecycle()?.lifecycle;
        let next = artifact.next_state().map(|state| Cow::Borrowed(&*state.name));
        let state = artifact.lifecycle_state();
        let kind = artifact.lifecycle()?.kind.as_ref().filter(|kind| !kind.is_record);
        let command = kind.zip(state).and_then(|(kind, state)| {
            let (_, command) = kind.commands.iter().find(|(own, _)| *own == state.name)?;
            Some(Cow::Borrowed(command.as_str()))
        });
        let state = state.map(|state| (Cow::Borrowed(&*state.name), state.rank));
        Some(Self { name: lifecycle.name(), state, next, command })
    }
}

fn filled(field: &Option<Field>) -> Option<&str> {
    field.as_ref().and_then(Field::filled)
}

/// For people; nearest to completion first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    Finished,
    /// Its status is off the path of its lifecycle.
    Blocked,
    Waiting,
    /// Content without completed steps: somebody has to look before the first step runs again.
    Interrupted,
    Underway,
    NotStarted,
    /// A story with its status in the body or the sprint status only.
    NotImported,
    /// Neither a known workflow nor a status.
    Unknown,
}

impl Condition {
    pub const ALL: [Self; 8] = [
        Self::Finished,
        Self::Blocked,
        Self::Waiting,
        Self::Interrupted,
        Self::Underway,
        Self::NotStarted,
        Self::NotImported,
        Self::Unknown,
    ];

    pub fn of(artifact: &TrackedArtifact) -> Self {
        if artifact.completion().is_finished() {
            return if goes_on(artifact) { Self::Blocked } else { Self::Finished };
        }
        if artifact.waits_for_person() {
            return Self::Waiting;
        }
        let status = artifact.state().status.as_ref().and_then(|status| status.filled());
        if status.is_some_and(|status| is_blocked(artifact, status)) {
            return Self::Blocked;
        }
        match (artifact.progress().map(|progress| progress.state), status) {
            (Some(WorkState::Finished), _) => Self::Finished,
            (Some(WorkState::Interrupted), _) => Self::Interrupted,
            (Some(WorkState::Underway), _) => Self::Underway,
            (_, Some(status)) => by_status(artifact, status),
            (Some(WorkState::NotStarted), None) => Self::NotStarted,
            (None, None) if !artifact.steps().completed().is_empty() => Self::Underway,
            (None, None) if artifact.waits_for_import() => Self::NotImported,
            (None, None) => Self::Unknown,
        }
    }

    /// On a page, also as filter value.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Finished => "done",
            Self::Blocked => "blocked",
            Self::Waiting => "waiting",
            Self::Interrupted => "interrupted",
            Self::Underway => "underway",
            Self::NotStarted => "not started",
            Self::NotImported => "not imported",
            Self::Unknown => "unknown",
        }
    }

    pub const fn is_open(self) -> bool {
        matches!(self, Self::Underway | Self::NotStarted)
    }
}

/// A failed task has ended, but can be retried.
fn goes_on(artifact: &TrackedArtifact) -> bool {
    let of_kind = artifact.state().kind.zip(artifact.lifecycle_state());
    of_kind.is_some_and(|(kind, state)| kind.commands.iter().any(|(own, _)| *own == state.name))
}

/// States without rank are off the path (`lifecycle::LifecycleState`); without a lifecycle, the word decides.
fn is_blocked(artifact: &TrackedArtifact, status: &str) -> bool {
    match artifact.lifecycle().and_then(|choice| choice.lifecycle.state_of(status)) {
        Some(state) => state.rank.is_none() && !state.is_initial && !state.is_terminal,
        None => status.trim().eq_ignore_ascii_case("blocked"),
    }
}

fn by_status(artifact: &TrackedArtifact, status: &str) -> Condition {
    let Some(choice) = artifact.lifecycle() else { return Condition::Underway };
    match choice.lifecycle.state_of(status) {
        Some(state) if state.is_initial && has_way(&choice.lifecycle, state) => Condition::NotStarted,
        _ => Condition::Underway,
    }
}

/// False without states in between, as for a document that is a draft until it is final: then work goes on in
/// its first state.
fn has_way(lifecycle: &Lifecycle, first: &LifecycleState) -> bool {
    lifecycle.states().iter().any(|state| state.rank > first.rank && !state.is_terminal)
}
