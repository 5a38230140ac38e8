//! Events of the journal.

use super::event_draft::{LOCAL, TOGETHER};
use super::{Actor, ArtifactKey, EventDraft};
use crate::artifact::{Artifact, FileHash, ProjectPath, StateDigest};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::{fmt, str::FromStr};
use stepmark_frontmatter::Change;

const VERSION: u32 = 1;

/// Fields of newer versions are kept in `more`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub v: u32,
    pub id: EventId,
    /// In milliseconds, by the writer's clock. Clocks may be wrong: causality is in `parents`.
    pub at: Timestamp,
    pub kind: Kind,
    pub actor: Actor,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Set by the caller, to find the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<EventId>,
    /// Length of the longest chain of parents, from 1; 0 without an artifact.
    #[serde(default)]
    pub n: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Relative to the state after the first parent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Digests>,
    /// `None`: deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Digests>,
    /// Full state, in every [`Event::SNAPSHOT_EVERY`]th event and without a parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Json>,
    /// The old spelling of changed values, as in the journal: fields of newer versions are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spelling: Option<Json>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub data: Map<String, Json>,
    #[serde(flatten)]
    pub more: Map<String, Json>,
}

/// Open set: unknown kinds are kept and shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Kind(pub std::borrow::Cow<'static, str>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactRef {
    pub key: ArtifactKey,
    pub path: ProjectPath,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<ArtifactKey>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digests {
    /// Of all bytes.
    pub file: FileHash,
    /// `None`: unreadable frontmatter.
    pub state: Option<StateDigest>,
}

impl Digests {
    pub fn of(artifact: &Artifact) -> Self {
        let state = artifact.state_value().ok();
        Self { file: artifact.file_hash(), state: state.as_ref().map(StateDigest::of) }
    }

    /// No file, the same frontmatter, or (if unreadable) the same bytes.
    pub fn are_same_state(left: Option<Self>, right: Option<Self>) -> bool {
        match (left, right) {
            (None, None) => true,
            (Some(left), Some(right)) if left.state.is_none() => {
                right.state.is_none() && left.file == right.file
            }
            (Some(left), Some(right)) => left.state == right.state,
            _ => false,
        }
    }
}

impl Kind {
    pub const CHANGE: Self = Self::of("change");
    pub const CREATE: Self = Self::of("create");
    pub const DELETE: Self = Self::of("delete");
    /// stepmark met an artifact for the first time.
    pub const FIRST_SEEN: Self = Self::of("first-seen");
    /// Edited outside of stepmark; detected later.
    pub const EXTERNAL_EDIT: Self = Self::of("external-edit");
    pub const UNDO: Self = Self::of("undo");
    pub const RESTORE: Self = Self::of("restore");
    /// A person imported values of other files into the frontmatter.
    pub const IMPORT: Self = Self::of("import");
    pub const INTERRUPTED: Self = Self::of("interrupted");
    pub const SESSION_START: Self = Self::of("session-start");
    pub const SESSION_END: Self = Self::of("session-end");
    pub const CHECKPOINT: Self = Self::of("checkpoint");
    /// Before the process runs another program.
    pub const HAND_OFF: Self = Self::of("hand-off");
    pub const DELEGATE: Self = Self::of("delegate");
    pub const LEASE_TAKEN_OVER: Self = Self::of("lease-taken-over");
    /// A sealed segment: names the segments before it; does not count as an event.
    pub const SEAL: Self = Self::of("seal");
    pub const OVERRIDE: Self = Self::of("override");

    /// The state file of autodev disagreed with the project files, which won.
    pub const AUTODEV_CORRECTED: Self = Self::of("autodev-corrected");
    /// The state file of autodev had no position; the project files gave it.
    pub const AUTODEV_UNPARSABLE: Self = Self::of("autodev-unparsable");

    pub const fn of(word: &'static str) -> Self {
        Self(std::borrow::Cow::Borrowed(word))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Event {
    /// Bounds the reading needed to find a state.
    pub const SNAPSHOT_EVERY: u64 = 50;

    /// Never leaves its clone.
    pub fn is_local(&self) -> bool {
        self.data.get(LOCAL) == Some(&Json::Bool(true))
    }

    /// Incomplete: [`Event::sealed`] sets the id.
    pub fn new(draft: EventDraft, actor: Actor, at: Timestamp) -> Self {
        Self {
            v: VERSION,
            id: EventId::from_bytes([0; 16]),
            at,
            kind: draft.kind,
            actor,
            session: None,
            correlation: None,
            artifact: None,
            parents: Vec::new(),
            n: 0,
            command: draft.command,
            reason: draft.reason,
            changes: Vec::new(),
            before: None,
            after: None,
            snapshot: None,
            spelling: draft.spelling,
            data: draft.data,
            more: Map::new(),
        }
    }

    #[must_use]
    pub fn sealed(mut self) -> Self {
        self.id = self.content_id();
        self
    }

    /// The first event of the same decision; `None` for a decision of its own.
    pub fn first_of_decision(&self) -> Option<EventId> {
        match self.data.get(TOGETHER)? {
            Json::String(first) => first.parse().ok(),
            _ => Some(self.id),
        }
    }

    pub fn is_genuine(&self) -> bool {
        self.id == self.content_id()
    }

    fn content_id(&self) -> EventId {
        let mut json = serde_json::to_value(self).unwrap_or_default();
        if let Json::Object(fields) = &mut json {
            fields.shift_remove("id");
        }
        // JSON of a value in memory cannot fail; an empty text would only never match.
        let canonical = serde_json_canonicalizer::to_vec(&json).unwrap_or_default();
        let mut half = [0; 16];
        half.copy_from_slice(&FileHash::of(&canonical).as_bytes()[..16]);
        EventId::from_bytes(half)
    }
}

/// First half of the SHA-256 of the canonical JSON; displayed as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId([u8; 16]);

stepmark_packs::schema_of_scalar!(EventId, {"type": "string"});

impl EventId {
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no event id: 32 hexadecimal digits are wanted; `stepmark log` shows the ids")]
pub struct EventIdError {
    pub text: String,
}

impl FromStr for EventId {
    type Err = EventIdError;

    fn from_str(text: &str) -> Result<Self, EventIdError> {
        let wrong = || EventIdError { text: text.to_owned() };
        if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        u128::from_str_radix(text, 16).map(|number| Self(number.to_be_bytes())).map_err(|_| wrong())
    }
}

impl Serialize for EventId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> Event {
        let draft = EventDraft::new(Kind::CHANGE).with_command("complete prd.md 1").with("step", "1");
        Event::new(draft, Actor::human("Ada"), "2026-11-22T10:00:00Z".parse().unwrap()).sealed()
    }

    #[test]
    fn the_id_names_the_content() {
        let event = event();
        assert!(event.is_genuine());
        let text = serde_json::to_string(&event).unwrap();
        let again: Event = serde_json::from_str(&text).unwrap();
        assert_eq!(again, event);
        let mut changed = event.clone();
        changed.reason = Some("because".to_owned());
        assert!(!changed.is_genuine());
        assert_ne!(changed.clone().sealed().id, event.id);
    }

    #[test]
    fn what_a_newer_version_adds_survives() {
        let mut json = serde_json::to_value(event()).unwrap();
        json["kind"] = "teleported".into();
        json["colour"] = serde_json::json!({"rgb": [1, 2, 3]});
        let read: Event = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(read.kind.as_str(), "teleported");
        assert_eq!(serde_json::to_value(&read).unwrap(), json);
        assert!(read.sealed().is_genuine());
    }

    #[test]
    fn ids_are_read_and_shown() {
        let id = EventId::from_bytes(*b"0123456789abcdef");
        assert_eq!(id.to_string().parse::<EventId>().unwrap(), id);
        assert_eq!(EventId::from_bytes(*id.as_bytes()), id);
        for text in ["", "12", &"g".repeat(32), &"+".repeat(32)] {
            assert!(text.parse::<EventId>().is_err(), "{text}");
        }
    }
}
