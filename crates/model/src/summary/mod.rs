//! The facts that lists, tables and groups show of an artifact: one plain value, which borrows its texts from
//! the artifact or from a cache.

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
    /// Its kind, where it is a record of a system.
    pub kind: Option<&'static Kind>,
    pub title: Option<&'a str>,
    /// The first heading of its body, where it has no title.
    pub heading: Option<Cow<'a, str>>,
    /// Its id: its own, else the one that `track` gave it.
    pub id: Option<&'a str>,
    pub workflow: WorkflowName<'a>,
    pub progress: Option<ProgressSummary<'a>>,
    /// The steps that its frontmatter lists as completed, as written.
    pub completed: Vec<&'a str>,
    pub status: Option<&'a str>,
    pub body_status: Option<&'a str>,
    /// Its status as its lifecycle understands it; `None` where it has no lifecycle.
    pub lifecycle: Option<LifecycleSummary<'a>>,
    pub scope: Option<&'a str>,
    pub agent: Option<Cow<'a, str>>,
    /// The id of the artifact that its work was delegated from.
    pub parent: Option<&'a str>,
    pub updated: Option<Timestamp>,
    pub condition: Condition,
    /// True if it is a story that says its status in its body or its ledger only.
    pub waits_for_import: bool,
    pub epic_titles: Vec<(u16, Cow<'a, str>)>,
    /// Its place among the tickets of BMAD 7, where it is one of them.
    pub ticket: Option<TicketPlace>,
    /// True where its frontmatter can be read. Else nothing is known of it but its path.
    pub is_readable: bool,
}

/// The place of a ticket of BMAD 7 among the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketPlace {
    /// The name by which commands take it: `1.2`.
    pub reference: String,
    /// The name of the folder of its epic.
    pub epic: String,
    /// Its place in the build order.
    pub order: usize,
    /// The reason why it cannot go on, in words; empty where nothing is in the way.
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
    /// The state of the status, with its rank; `None` where the lifecycle does not know the word.
    pub state: Option<(Cow<'a, str>, Option<u32>)>,
    pub next: Option<Cow<'a, str>>,
    /// The command of its pack that leads on; `ID` stands for the id, or the path.
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

    /// The same as the ticket at `order` in `tree`, which knows more of it than its file says.
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

    /// Returns the name with the track where that is not the usual one; `-` where none is known.
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

/// The condition of an artifact, for people: the nearest to the end first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    Finished,
    /// Its status stands beside the way of its lifecycle: work on it is held up.
    Blocked,
    Waiting,
    /// It has content and no completed step: somebody has to look at it before its first step runs again.
    Interrupted,
    Underway,
    NotStarted,
    /// It is a story whose status stands in its body or its ledger only.
    NotImported,
    /// It has neither a workflow that is known nor a status.
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

    /// The condition of `artifact`. A status that is beside the way counts more than its workflow.
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

    /// The word for it on a page; also the value by which a page filters.
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

/// Returns whether its kind has a command for its state: a failed task has ended and can be retried.
fn goes_on(artifact: &TrackedArtifact) -> bool {
    let of_kind = artifact.state().kind.zip(artifact.lifecycle_state());
    of_kind.is_some_and(|(kind, state)| kind.commands.iter().any(|(own, _)| *own == state.name))
}

/// A state without a rank is beside the way (`lifecycle::LifecycleState`); without a lifecycle only the word
/// itself tells.
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

/// Returns whether anything stands between the beginning and the end. Where nothing does, as in a document
/// that is a draft until it is final, the work goes on in its first state.
fn has_way(lifecycle: &Lifecycle, first: &LifecycleState) -> bool {
    lifecycle.states().iter().any(|state| state.rank > first.rank && !state.is_terminal)
}
