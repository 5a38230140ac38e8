//! The position of an artifact.

use crate::{
    lifecycle::{Lifecycle, LifecycleState},
    tracked_artifact::TrackedArtifact,
    workflow::WorkState,
};

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
    /// None of its work is done.
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

/// Returns whether its kind has a command for its state: a task that failed has ended, and can be tried
/// again.
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
