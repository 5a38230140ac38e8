//! Typed reads of records, and their values as they are compared.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde_json::{Map, Value as Json};

use super::{Record, RecordKinds};
use crate::artifact::FileHash;

/// The keys of times that follow the clock: no comparison counts them.
pub(crate) const VOLATILE: [&str; 4] = ["last_updated", "last_activity", "last_seen", "last_heartbeat"];

impl<K> Record<K> {
    /// The text under `key`; `None` for nothing, an empty text and other values.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key)?.as_str().filter(|text| !text.is_empty())
    }

    /// The whole number under `key`.
    pub fn number(&self, key: &str) -> Option<i64> {
        self.values.get(key)?.as_i64()
    }

    /// The texts of the list under `key`.
    pub fn texts(&self, key: &str) -> Vec<&str> {
        let items = self.values.get(key).and_then(Json::as_array);
        items.map(|items| items.iter().filter_map(Json::as_str).collect()).unwrap_or_default()
    }

    /// The time under `key`; one without a zone is taken for UTC.
    pub fn time(&self, key: &str) -> Option<Timestamp> {
        read_time(self.text(key)?)
    }

    /// Sets `key`.
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
