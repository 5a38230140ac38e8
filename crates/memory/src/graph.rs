//! The graph around memories.

use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Node {
    pub kind: NodeKind,
    /// The id of a memory, the identity of an artifact, a path, or an agent as in the journal.
    pub name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    Memory,
    Artifact,
    /// No artifact, as far as is known.
    File,
    Workflow,
    Step,
    Agent,
    Session,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Edge {
    pub from: Node,
    pub to: Node,
    pub kind: EdgeKind,
}

/// The first four have the names of `kuzu-memory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum EdgeKind {
    #[serde(rename = "MENTIONS")]
    Mentions,
    #[serde(rename = "RELATES_TO")]
    RelatesTo,
    #[serde(rename = "BELONGS_TO_SESSION")]
    BelongsToSession,
    #[serde(rename = "CO_OCCURS_WITH")]
    CoOccursWith,
    #[serde(rename = "supersedes")]
    Supersedes,
    /// `inputDocuments`.
    #[serde(rename = "derived-from")]
    DerivedFrom,
    #[serde(rename = "delegated-from")]
    DelegatedFrom,
    #[serde(rename = "worked-on")]
    WorkedOn,
    #[serde(rename = "completed-in")]
    CompletedIn,
    /// `depends_on`, `dependencies`.
    #[serde(rename = "depends-on")]
    DependsOn,
    #[serde(rename = "decided-in")]
    DecidedIn,
    #[serde(rename = "told-by")]
    ToldBy,
}

const NODE_KINDS: [(NodeKind, &str); 7] = [
    (NodeKind::Memory, "memory"),
    (NodeKind::Artifact, "artifact"),
    (NodeKind::File, "file"),
    (NodeKind::Workflow, "workflow"),
    (NodeKind::Step, "step"),
    (NodeKind::Agent, "agent"),
    (NodeKind::Session, "session"),
];

const EDGE_KINDS: [(EdgeKind, &str); 12] = [
    (EdgeKind::Mentions, "MENTIONS"),
    (EdgeKind::RelatesTo, "RELATES_TO"),
    (EdgeKind::BelongsToSession, "BELONGS_TO_SESSION"),
    (EdgeKind::CoOccursWith, "CO_OCCURS_WITH"),
    (EdgeKind::Supersedes, "supersedes"),
    (EdgeKind::DerivedFrom, "derived-from"),
    (EdgeKind::DelegatedFrom, "delegated-from"),
    (EdgeKind::WorkedOn, "worked-on"),
    (EdgeKind::CompletedIn, "completed-in"),
    (EdgeKind::DependsOn, "depends-on"),
    (EdgeKind::DecidedIn, "decided-in"),
    (EdgeKind::ToldBy, "told-by"),
];

impl NodeKind {
    pub fn as_str(self) -> &'static str {
        NODE_KINDS[self as usize].1
    }

    pub fn named(name: &str) -> Option<Self> {
        NODE_KINDS.iter().find(|(_, own)| *own == name).map(|(kind, _)| *kind)
    }
}

impl EdgeKind {
    pub fn as_str(self) -> &'static str {
        EDGE_KINDS[self as usize].1
    }

    pub fn named(name: &str) -> Option<Self> {
        EDGE_KINDS.iter().find(|(_, own)| *own == name).map(|(kind, _)| *kind)
    }
}

impl Node {
    pub fn new(kind: NodeKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }

    pub fn to(&self, kind: EdgeKind, to: &Self) -> Edge {
        Edge { from: self.clone(), to: to.clone(), kind }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for (place, (kind, name)) in EDGE_KINDS.iter().enumerate() {
            assert_eq!((*kind as usize, serde_json::to_value(kind).unwrap()), (place, (*name).into()));
        }
        for (place, (kind, name)) in NODE_KINDS.iter().enumerate() {
            assert_eq!((*kind as usize, serde_json::to_value(kind).unwrap()), (place, (*name).into()));
        }
    }
}
