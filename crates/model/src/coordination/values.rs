//! Typed reads of records, and their values as they are compared.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde_json::{Map, Value as Json};

use super::{Record, RecordKind, dependencies::state_of};
use crate::artifact::FileHash;

/// The priority of a task that says none.
const USUAL_PRIORITY: i64 = 5;

/// The number of attempts that a task has where it says nothing.
const USUAL_ATTEMPTS: i64 = 3;

/// The keys of times that follow the clock: no comparison counts them.
pub(super) const VOLATILE: [&str; 4] = ["last_updated", "last_activity", "last_seen", "last_heartbeat"];

impl Record {
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

    /// The status word; `available` where the task says none, and nothing where it is no text.
    pub fn status(&self) -> &str {
        match self.values.get("status") {
            None | Some(Json::Null) => "available",
            Some(status) => status.as_str().unwrap_or_default(),
        }
    }

    /// The agent that has the task.
    pub fn claimed_by(&self) -> Option<&str> {
        self.text("claimed_by")
    }

    /// The ids of the tasks that have to be done before.
    pub fn dependencies(&self) -> Vec<&str> {
        self.texts("dependencies")
    }

    /// The priority: 1 is the highest, 10 the lowest.
    pub fn priority(&self) -> i64 {
        self.number("priority").unwrap_or(USUAL_PRIORITY)
    }

    /// Returns whether its priority is no whole number from 1 to 10.
    pub(crate) fn has_odd_priority(&self) -> bool {
        let is_in_range = |number| (1..=10).contains(&number);
        let odd = |priority: &Json| !priority.is_null() && !priority.as_i64().is_some_and(is_in_range);
        self.values.get("priority").is_some_and(odd)
    }

    /// Returns whether it is a task with a status or a priority that no command gives.
    pub fn is_odd(&self) -> bool {
        self.kind == RecordKind::Task && (state_of(self).is_none() || self.has_odd_priority())
    }

    /// The priority that counts when tasks are claimed: a boost makes it higher.
    pub fn effective_priority(&self) -> i64 {
        self.priority().saturating_sub(self.number("priority_boost").unwrap_or_default()).max(1)
    }

    /// The capabilities under `key`: a list, or a text with commas.
    pub fn capabilities(&self, key: &str) -> Vec<&str> {
        match self.text(key) {
            Some(text) => text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect(),
            None => self.texts(key),
        }
    }

    /// The number of times that the task has been tried, the most that it may be, and the key that counts.
    pub fn attempts(&self) -> (i64, i64, &'static str) {
        let (count, most) = if self.counts_attempts() {
            ("attempts", "max_attempts")
        } else {
            ("retry_count", "max_retries")
        };
        (self.number(count).unwrap_or_default(), self.number(most).unwrap_or(USUAL_ATTEMPTS), count)
    }

    /// Returns whether the task counts its claims, not its retries.
    pub(super) fn counts_attempts(&self) -> bool {
        ["attempts", "max_attempts"].iter().any(|key| self.number(key).is_some())
    }

    /// Sets `key`.
    pub fn set(&mut self, key: &str, value: impl Into<Json>) {
        self.values.insert(key.to_owned(), value.into());
    }
}

/// The digest of what a record says: canonical JSON (RFC 8785) without its place, without volatile times, and
/// without entries that say nothing.
pub fn values_digest(record: &Record) -> FileHash {
    let mut values = Map::new();
    values.insert("kind".to_owned(), record.kind.name().into());
    values.insert("id".to_owned(), record.id.as_str().into());
    if record.kind.body_key().is_some() {
        values.insert("body".to_owned(), record.body.as_str().into());
    }
    let lasting = record
        .values
        .iter()
        .filter(|(key, value)| !VOLATILE.contains(&key.as_str()) && !is_usual(record.kind, key, value));
    let lasting: Map<_, _> = lasting.map(|(key, value)| (key.clone(), value.clone())).collect();
    values.insert("values".to_owned(), said(&Json::Object(lasting)));
    let text = serde_json_canonicalizer::to_string(&values);
    FileHash::of(text.unwrap_or_else(|_| Json::Object(values).to_string()).as_bytes())
}

/// `value` without entries that say nothing, and with times in one spelling: what two writers of the same
/// state agree on.
pub(super) fn said(value: &Json) -> Json {
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

/// Returns whether a record of `kind` says the same without this value.
pub(super) fn is_usual(kind: RecordKind, key: &str, value: &Json) -> bool {
    let is = |number| value.as_i64() == Some(number);
    match (kind, key) {
        (RecordKind::Task, "status") => value == "available",
        (RecordKind::Task, "priority") => is(USUAL_PRIORITY),
        (RecordKind::Task, "attempts") | (RecordKind::Agent, "tasks_completed") => is(0),
        (RecordKind::Task, "max_attempts") => is(USUAL_ATTEMPTS),
        (RecordKind::Agent, "role") => value == "worker",
        // An orchestrator notes of every agent that it is not running, and has measured nothing.
        (RecordKind::Agent, "is_active") => value == false,
        (RecordKind::Agent, "working_directory") => value == ".",
        (RecordKind::Agent, "max_concurrent_tasks") => is(1),
        (RecordKind::Agent, "metrics") => {
            value.as_object().is_some_and(|all| all.values().all(|one| one.as_f64() == Some(0.0)))
        }
        _ => false,
    }
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
pub(super) fn read_time(text: &str) -> Option<Timestamp> {
    let zoned = text.parse::<Timestamp>().ok();
    zoned.or_else(|| Some(text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp()))
}
