//! The part of one artifact in its chain.

use super::Completion;
use crate::{
    artifact::{Artifact, Delegation, Field, Kind, ProjectPath},
    workflow::Progress,
};

/// An artifact, as far as chains of delegation are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its path.
    pub path: ProjectPath,
    /// Its own id: `id`, else `stepmark_id`.
    pub identity: Option<String>,
    /// Its position in its chain, as it says.
    pub delegation: Option<Delegation>,
    /// The completion of its work.
    pub completion: Completion,
    /// Its status word.
    pub status: Option<String>,
    /// Steps done and steps in all, where its workflow is known.
    pub progress: Option<(usize, usize)>,
    /// Its kind, where it is a record of a system.
    pub kind: Option<&'static Kind>,
    /// Its title.
    pub title: Option<String>,
    /// The agent that works on it.
    pub agent: Option<Agent>,
}

/// The agent that works on an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent(pub String);

impl Member {
    /// Reads `artifact`, with its progress where the workflow is known.
    pub fn of(artifact: &Artifact, progress: Option<&Progress<'_>>) -> Self {
        let state = artifact.state();
        let filled = |field: &Option<Field>| field.as_ref().and_then(Field::filled).map(str::to_owned);
        Self {
            path: artifact.path().clone(),
            identity: filled(&state.id).or_else(|| filled(&state.stepmark_id)),
            delegation: state.delegation.clone(),
            completion: Completion::of(artifact, progress),
            status: filled(&state.status),
            progress: progress.map(|progress| (progress.done_units, progress.total)),
            kind: state.kind,
            title: filled(&state.title),
            agent: Agent::of(artifact).filter(|_| state.delegation.is_some() || state.kind.is_some()),
        }
    }

    /// The id by which other artifacts name it: the id of its delegation, else its own.
    pub fn id(&self) -> Option<&str> {
        self.delegation.as_ref().and_then(Delegation::id).or(self.identity.as_deref())
    }

    /// The ids that it names: its own, and that of its parent.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.id().into_iter().chain(self.parent_id())
    }

    /// The id of its parent.
    pub fn parent_id(&self) -> Option<&str> {
        self.delegation.as_ref().and_then(Delegation::parent_id)
    }
}

impl Agent {
    /// The agent of `artifact`.
    pub fn of(artifact: &Artifact) -> Option<Self> {
        artifact.state().agent.as_ref().and_then(Field::filled).map(|name| Self(name.to_owned()))
    }
}
