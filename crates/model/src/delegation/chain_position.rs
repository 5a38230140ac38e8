//! A place in a chain, exactly.

use super::Member;
use crate::artifact::Delegation;
use stepmark_frontmatter::Value;

/// The position of an artifact in its chain, as it is written into frontmatter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPosition {
    /// The ids from the root to the artifact, which is the last.
    chain: Vec<String>,
}

/// A reason why nothing can be delegated from an artifact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParentPositionError {
    /// It has a `delegation` that does not say where it stands.
    #[error("its own `delegation` does not say where it stands: {reason}")]
    Unclear {
        /// The problem.
        reason: String,
    },
    /// Its chain is as long as a chain may be.
    #[error("its chain has {depth} links already, more than anybody can follow")]
    TooDeep {
        /// Its depth.
        depth: usize,
    },
}

/// No chain of agents is longer; what is may well be a mistake that repeats itself.
const DEEPEST: usize = 64;

impl ChainPosition {
    /// The root of a new chain.
    pub fn root(id: impl Into<String>) -> Self {
        Self { chain: vec![id.into()] }
    }

    /// The place that the delegation of `member` says; a root where it has none. `identity` is the id to take
    /// where it has no id at all.
    ///
    /// # Errors
    /// When the delegation contradicts itself.
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

    /// The place of a child with the id `id`.
    ///
    /// # Errors
    /// When the chain is too long.
    pub fn child(&self, id: impl Into<String>) -> Result<Self, ParentPositionError> {
        if self.depth() >= DEEPEST {
            return Err(ParentPositionError::TooDeep { depth: self.depth() });
        }
        let mut chain = self.chain.clone();
        chain.push(id.into());
        Ok(Self { chain })
    }

    /// The ids from the root to the artifact.
    pub fn chain(&self) -> &[String] {
        &self.chain
    }

    /// The id of the artifact.
    pub fn id(&self) -> &str {
        self.chain.last().map_or("", String::as_str)
    }

    /// The number of artifacts above it.
    pub const fn depth(&self) -> usize {
        self.chain.len().saturating_sub(1)
    }

    /// The value of the key `delegation`.
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
