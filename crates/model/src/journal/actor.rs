//! Authors of changes.

use std::{fmt, str::FromStr};

use super::SegmentName;
use crate::artifact::{Artifact, ProjectPath};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    pub kind: ActorKind,
    pub name: String,
}

/// A person may intervene in the work of agents at any time, and history must show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActorKind {
    Human,
    Agent,
    Tool,
    /// The author of an edit outside of stepmark.
    Unknown,
}

/// Shared by all events of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribution {
    pub actor: Actor,
    pub session: Option<SessionId>,
    pub correlation: Option<String>,
    pub fence: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` names no actor: write KIND:NAME with the kind human, agent or tool, for instance `agent:writer`"
)]
pub struct ActorError {
    pub text: String,
}

impl Actor {
    pub fn unknown() -> Self {
        Self { kind: ActorKind::Unknown, name: String::new() }
    }

    /// Named by the host, so that the process is the same one next time.
    pub fn unknown_at(host: &str) -> Self {
        Self { kind: ActorKind::Unknown, name: host.to_owned() }
    }

    pub fn human(name: impl Into<String>) -> Self {
        Self { kind: ActorKind::Human, name: name.into() }
    }
}

impl Attribution {
    pub const fn of(actor: Actor) -> Self {
        Self { actor, session: None, correlation: None, fence: None }
    }
}

impl Default for Attribution {
    /// An embedding program of which nothing is known.
    fn default() -> Self {
        Self::of(Actor::unknown())
    }
}

impl ActorKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Agent => "agent",
            Self::Tool => "tool",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.name.as_str()) {
            (kind, "") => out.write_str(kind.as_str()),
            (ActorKind::Unknown, host) => write!(out, "unknown@{host}"),
            (kind, name) => write!(out, "{}:{name}", kind.as_str()),
        }
    }
}

impl FromStr for Actor {
    type Err = ActorError;

    fn from_str(text: &str) -> Result<Self, ActorError> {
        let wrong = || ActorError { text: text.to_owned() };
        let (kind, name) = text.split_once(':').ok_or_else(wrong)?;
        let kind = [ActorKind::Human, ActorKind::Agent, ActorKind::Tool]
            .into_iter()
            .find(|known| known.as_str() == kind)
            .ok_or_else(wrong)?;
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            return Err(wrong());
        }
        Ok(Self { kind, name: name.trim().to_owned() })
    }
}

/// Starts the names of segments: letters, digits, `-`, `_` and `.`, no leading dot, at most
/// [`SessionId::LONGEST`] bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` cannot name a session: letters, digits, `-`, `_` and `.` are wanted, at most {} of them, no dot in front, and \
     not `main` or `local`; `stepmark session list` shows the sessions",
    SessionId::LONGEST
)]
pub struct SessionIdError {
    pub text: String,
}

impl SessionId {
    /// In bytes; leaves room for the unique suffix of a segment's name.
    pub const LONGEST: usize = 100;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = SessionIdError;

    fn from_str(text: &str) -> Result<Self, SessionIdError> {
        // Reserved for commands outside of sessions, and for events that are never sealed.
        let is_taken = ["main", "local"].contains(&text);
        let is_name = text.len() <= Self::LONGEST && !is_taken && SegmentName::new(text).is_some();
        if is_name { Ok(Self(text.to_owned())) } else { Err(SessionIdError { text: text.to_owned() }) }
    }
}

impl AsRef<str> for SessionId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// `id:` and the own id, else `id:` and the `stepmark_id` from `track`, else `path:` and the path
/// (docs/design.md, "Identity").
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct ArtifactKey(String);

impl ArtifactKey {
    pub fn of(artifact: &Artifact) -> Self {
        let state = artifact.state();
        let id = [&state.id, &state.stepmark_id].into_iter().flatten().find_map(|field| field.filled());
        id.map_or_else(|| Self::of_path(artifact.path()), Self::of_id)
    }

    pub fn of_id(id: &str) -> Self {
        Self(format!("id:{id}"))
    }

    /// For artifacts without id, and unreadable ones.
    pub fn of_path(path: &ProjectPath) -> Self {
        Self(format!("path:{path}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Lost if the file moves.
    pub fn is_path(&self) -> bool {
        self.0.starts_with("path:")
    }
}

impl fmt::Display for ArtifactKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_shows() {
        for text in ["human:Ada", "agent:writer-2", "tool:ci:nightly"] {
            assert_eq!(text.parse::<Actor>().unwrap().to_string(), text);
        }
        for text in ["", "Ada", "agent:", "robot:x", "human: ", "agent:a\nb"] {
            assert!(text.parse::<Actor>().is_err(), "{text:?}");
        }
        assert_eq!(Actor::unknown().to_string(), "unknown");
        assert_eq!(Actor::unknown_at("box").to_string(), "unknown@box");
    }

    #[test]
    fn names_start_segments() {
        for text in ["s-20261122-1015-a1b2c3", "night.run_2", &"x".repeat(SessionId::LONGEST)] {
            let id: SessionId = text.parse().unwrap();
            assert!(SegmentName::new(&format!("{id}-0123456789ab")).is_some());
        }
        for text in ["", "main", ".x", "a/b", "a b", "é", &"x".repeat(SessionId::LONGEST + 1)] {
            assert!(text.parse::<SessionId>().is_err(), "{text}");
        }
    }
}

#[cfg(test)]
mod artifact_key_tests {
    use super::*;

    #[test]
    fn an_own_id_comes_first() {
        let key = |frontmatter: &str| {
            let path = ProjectPath::new("docs/prd.md").unwrap();
            let file = format!("---\n{frontmatter}\n---\n");
            ArtifactKey::of(&Artifact::read(path, file.into_bytes())).to_string()
        };
        assert_eq!(key("id: A-1\nstepmark_id: x"), "id:A-1");
        assert_eq!(key("id:\nstepmark_id: x"), "id:x");
        assert_eq!(key("status: draft"), "path:docs/prd.md");
        assert!(ArtifactKey::of_path(&ProjectPath::new("a.md").unwrap()).is_path());
    }
}
