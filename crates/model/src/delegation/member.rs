//! The part of one artifact in its chain.

use crate::artifact::{Artifact, Delegation, Field, Kind, ProjectPath};
use crate::workflow::{Progress, WorkState};
use stepmark_frontmatter::Value;

/// An artifact, as far as chains of delegation are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub path: ProjectPath,
    /// Its own id: `id`, else `stepmark_id`.
    pub identity: Option<String>,
    pub delegation: Option<Delegation>,
    pub completion: Completion,
    pub status: Option<String>,
    /// Steps done and steps in all, where its workflow is known.
    pub progress: Option<(usize, usize)>,
    /// Its kind, where it is a record of a system.
    pub kind: Option<&'static Kind>,
    pub title: Option<String>,
    pub agent: Option<Agent>,
}

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

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.id().into_iter().chain(self.parent_id())
    }

    pub fn parent_id(&self) -> Option<&str> {
        self.delegation.as_ref().and_then(Delegation::parent_id)
    }
}

impl Agent {
    pub fn of(artifact: &Artifact) -> Option<Self> {
        artifact.state().agent.as_ref().and_then(Field::filled).map(|name| Self(name.to_owned()))
    }
}

/// The status words after which nothing is to be done any more (docs/formats.md, "Statuses", and those of
/// trackers). Compared without regard to case.
pub const FINISHED_WORDS: [&str; 14] = [
    "done",
    "complete",
    "completed",
    "approved",
    "closed",
    "finished",
    "implemented",
    "resolved",
    "merged",
    "waived",
    "cancelled",
    "canceled",
    "superseded",
    "abandoned",
];

/// The two ways in which an artifact says that its work is finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The end of its workflow is done.
    pub by_workflow: bool,
    /// Its `status` is one of [`FINISHED_WORDS`].
    pub by_status: bool,
}

impl Completion {
    /// Reads `artifact`, with its progress where the workflow is known.
    pub fn of(artifact: &Artifact, progress: Option<&Progress<'_>>) -> Self {
        let status = artifact.state().status.as_ref().and_then(|status| status.filled());
        Self {
            by_workflow: progress.is_some_and(|progress| progress.state == WorkState::Finished),
            by_status: status.is_some_and(is_finished_word),
        }
    }

    pub const fn is_finished(self) -> bool {
        self.by_workflow || self.by_status
    }

    /// Returns whether it says so in a way in which it did not `before`.
    pub const fn is_news_after(self, before: Self) -> bool {
        self.by_workflow && !before.by_workflow || self.by_status && !before.by_status
    }
}

fn is_finished_word(status: &str) -> bool {
    FINISHED_WORDS.iter().any(|word| status.trim().eq_ignore_ascii_case(word))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPosition {
    /// The ids from the root to the artifact, which is the last.
    chain: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParentPositionError {
    #[error("its own `delegation` does not say where it stands: {reason}")]
    Unclear { reason: String },
    #[error("its chain has {depth} links already, more than anybody can follow")]
    TooDeep { depth: usize },
}

/// No chain of agents is longer; what is may well be a mistake that repeats itself.
const DEEPEST: usize = 64;

impl ChainPosition {
    pub fn root(id: impl Into<String>) -> Self {
        Self { chain: vec![id.into()] }
    }

    pub fn of(member: &Member, identity: &str) -> Result<Self, ParentPositionError> {
        let id = member.id().unwrap_or(identity);
        let says_more = |delegation: &&Delegation| !delegation.is_parent_alone;
        let Some(delegation) = member.delegation.as_ref().filter(says_more) else {
            return Ok(Self::root(id));
        };
        let unclear = |reason: &str| ParentPositionError::Unclear { reason: reason.to_owned() };
        if !delegation.is_mapping {
            return Err(unclear("it is no mapping"));
        }
        let Some(parent) = delegation.parent_id() else { return Ok(Self::root(id)) };
        let Some(path) = &delegation.chain_path else { return Err(unclear("it has no `chain_path`")) };
        let mut chain = path.ids.clone();
        // Some write the ancestors alone.
        if chain.last().is_none_or(|last| last != id) {
            chain.push(id.to_owned());
        }
        let above = chain.len().checked_sub(2).and_then(|at| chain.get(at));
        if above.is_none_or(|above| above != parent) {
            return Err(unclear("`chain_path` does not lead through `parent_id`"));
        }
        if chain.iter().enumerate().any(|(at, id)| chain[..at].contains(id)) {
            return Err(unclear("`chain_path` goes in a circle"));
        }
        Ok(Self { chain })
    }

    pub fn child(&self, id: impl Into<String>) -> Result<Self, ParentPositionError> {
        if self.depth() >= DEEPEST {
            return Err(ParentPositionError::TooDeep { depth: self.depth() });
        }
        let mut chain = self.chain.clone();
        chain.push(id.into());
        Ok(Self { chain })
    }

    pub fn chain(&self) -> &[String] {
        &self.chain
    }

    pub fn id(&self) -> &str {
        self.chain.last().map_or("", String::as_str)
    }

    pub const fn depth(&self) -> usize {
        self.chain.len().saturating_sub(1)
    }

    pub fn to_value(&self) -> Value {
        let parent = self.chain.len().checked_sub(2).and_then(|at| self.chain.get(at));
        let text = |id: &String| Value::from(id.as_str());
        Value::mapping([
            ("id", Value::from(self.id())),
            ("parent_id", parent.map_or(Value::Null, text)),
            ("root_id", self.chain.first().map_or(Value::Null, text)),
            ("depth", Value::Integer(i64::try_from(self.depth()).unwrap_or(i64::MAX))),
            ("chain_path", Value::Sequence(self.chain.iter().map(text).collect())),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_counts_by_itself() {
        let completion = |by_workflow, by_status| Completion { by_workflow, by_status };
        assert!(completion(true, true).is_news_after(completion(true, false)));
        assert!(completion(true, false).is_news_after(completion(false, true)));
        assert!(!completion(true, false).is_news_after(completion(true, true)));
        assert!(!completion(false, false).is_news_after(completion(false, false)));
        for (status, is_finished) in
            [("Done", true), (" closed ", true), ("in-review", false), ("undone", false)]
        {
            assert_eq!(is_finished_word(status), is_finished, "{status}");
        }
    }
}
