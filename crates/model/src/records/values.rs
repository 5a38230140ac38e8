//! Typed reads of records, and their values as they are compared.

use super::{Record, RecordKinds};
use crate::artifact::FileHash;
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The keys of times that follow the clock: no comparison counts them.
pub(crate) const VOLATILE: [&str; 4] = ["last_updated", "last_activity", "last_seen", "last_heartbeat"];

impl<K> Record<K> {
    /// The text under `key`; `None` for nothing, an empty text and other values.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key)?.as_str().filter(|text| !text.is_empty())
    }

    pub fn number(&self, key: &str) -> Option<i64> {
        self.values.get(key)?.as_i64()
    }

    pub fn texts(&self, key: &str) -> Vec<&str> {
        let items = self.values.get(key).and_then(Json::as_array);
        items.map(|items| items.iter().filter_map(Json::as_str).collect()).unwrap_or_default()
    }

    /// The time under `key`; one without a zone is taken for UTC.
    pub fn time(&self, key: &str) -> Option<Timestamp> {
        read_time(self.text(key)?)
    }

    pub fn set(&mut self, key: &str, value: impl Into<Json>) {
        self.values.insert(key.to_owned(), value.into());
    }
}

/// The digest of what a record says: canonical JSON (RFC 8785) without its place, without volatile times, and
/// without entries that say nothing.
pub fn values_digest<K: RecordKinds>(record: &Record<K>) -> FileHash {
    let mut values = Map::new();
    values.insert("kind".to_owned(), record.kind.name().into());
    values.insert("id".to_owned(), record.id.as_str().into());
    if record.kind.body_key().is_some() {
        values.insert("body".to_owned(), record.body.as_str().into());
    }
    let lasting = record
        .values
        .iter()
        .filter(|(key, value)| !VOLATILE.contains(&key.as_str()) && !record.kind.is_usual(key, value));
    let lasting: Map<_, _> = lasting.map(|(key, value)| (key.clone(), value.clone())).collect();
    values.insert("values".to_owned(), said(&Json::Object(lasting)));
    let text = serde_json_canonicalizer::to_string(&values);
    FileHash::of(text.unwrap_or_else(|_| Json::Object(values).to_string()).as_bytes())
}

/// `value` without entries that say nothing, and with times in one spelling: what two writers of the same
/// state agree on.
pub(crate) fn said(value: &Json) -> Json {
    let Json::Object(entries) = value else { return value.clone() };
    let entry = |(key, value): (&String, &Json)| {
        let value = match value {
            Json::String(text) if key.ends_with("_at") => read_time(text).map(|time| time.to_string().into()),
            _ => None,
        }
        .unwrap_or_else(|| said(value));
        (!is_empty(&value)).then(|| (key.clone(), value))
    };
    Json::Object(entries.iter().filter_map(entry).collect())
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(entries) => entries.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}

/// The time that `text` says; without a zone it is taken for UTC.
pub fn read_time(text: &str) -> Option<Timestamp> {
    let zoned = text.parse::<Timestamp>().ok();
    zoned.or_else(|| Some(text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp()))
}

/// The values of a record: copies of it share them until one of them changes.
#[derive(Clone, Debug, Default)]
pub struct SharedValues(Arc<Map<String, Json>>);

impl Deref for SharedValues {
    type Target = Map<String, Json>;

    fn deref(&self) -> &Map<String, Json> {
        &self.0
    }
}

impl DerefMut for SharedValues {
    fn deref_mut(&mut self) -> &mut Map<String, Json> {
        Arc::make_mut(&mut self.0)
    }
}

impl PartialEq for SharedValues {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl From<Map<String, Json>> for SharedValues {
    fn from(values: Map<String, Json>) -> Self {
        Self(Arc::new(values))
    }
}

impl From<SharedValues> for Map<String, Json> {
    fn from(values: SharedValues) -> Self {
        Arc::unwrap_or_clone(values.0)
    }
}

impl Serialize for SharedValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SharedValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}

/// The name of the file of `id`, without its extension: the id where that is a plain name, else one that is
/// like it.
pub fn file_stem(id: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    if (1..=80).contains(&id.len()) && !id.starts_with('.') && id.chars().all(is_plain) {
        return id.to_owned();
    }
    let slug: String =
        id.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).take(60).collect();
    let digest = Sha256::digest(id.as_bytes());
    let digits: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{digits}", slug.trim_matches('-')).trim_start_matches('-').to_owned()
}
