//! A memory, and its source.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{MemoryKind, MemoryType, Tier};
use stepmark_sync::secret::secret_in;

/// Never edited: a later one may supersede it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryRecord {
    /// That of its event.
    pub id: String,
    pub kind: MemoryKind,
    #[serde(rename = "type")]
    pub memory_type: MemoryType,
    pub tier: Tier,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    #[serde(default)]
    pub tags: Vec<String>,
    pub importance: f64,
    pub confidence: f64,
    pub source: Source,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// SHA-256 of the content, trimmed and in lower case: the same words are the same memory.
    pub content_hash: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub question: String,
    pub chosen: String,
    #[serde(default)]
    pub alternatives: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub event: String,
    /// The path at that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl MemoryRecord {
    pub fn new(kind: MemoryKind, content: String, source: Source, created_at: Timestamp) -> Self {
        let content_hash = content_hash(&content);
        let record = Self {
            id: source.event.clone(),
            kind,
            memory_type: kind.memory_type(),
            tier: kind.tier(),
            content,
            rationale: None,
            decision: None,
            tags: Vec::new(),
            importance: kind.importance(),
            confidence: 1.0,
            source,
            created_at,
            valid_to: None,
            content_hash,
        };
        record.of_type(kind.memory_type())
    }

    /// Also sets the end.
    #[must_use]
    pub fn of_type(mut self, memory_type: MemoryType) -> Self {
        self.memory_type = memory_type;
        let after = memory_type.seconds().map(SignedDuration::from_secs);
        self.valid_to = after.and_then(|after| self.created_at.checked_add(after).ok());
        self
    }

    pub fn secret(&self) -> Option<String> {
        let decision = self
            .decision
            .iter()
            .flat_map(|own| [&own.question, &own.chosen].into_iter().chain(&own.alternatives));
        let texts = [&self.content].into_iter().chain(&self.rationale).chain(decision).chain(&self.tags);
        texts.into_iter().find_map(|text| secret_in(text))
    }

    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.valid_to.is_some_and(|end| end <= now)
    }
}

pub fn content_hash(content: &str) -> String {
    let digest = Sha256::digest(content.trim().to_lowercase().as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_ends_and_what_is_decided_does_not() {
        let at: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let of = |kind| MemoryRecord::new(kind, "x".to_owned(), Source::default(), at);
        let later = "2026-02-01T00:00:00Z".parse().unwrap();
        assert!(of(MemoryKind::Observation).is_expired(later) && !of(MemoryKind::Observation).is_expired(at));
        assert!(!of(MemoryKind::Decision).is_expired(later));
    }

    #[test]
    fn the_same_words_have_one_hash() {
        assert_eq!(content_hash(" Use SQLite\n"), content_hash("use sqlite"));
        assert_ne!(content_hash("use sqlite"), content_hash("use postgres"));
    }
}
