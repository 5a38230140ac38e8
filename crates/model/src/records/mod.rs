//! Records: artifacts that other systems keep as entries of their own files. A system declares its kinds
//! ([`RecordKinds`]); the rest is common.

mod drift;
mod strict_json;

use std::{
    collections::BTreeMap,
    fmt::{Debug, Display},
    hash::Hash,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use crate::{
    artifact::{Artifact, FileHash, KIND_KEY, Kind, StateUnreadable, state_edits, state_file},
    spelling::listed,
};
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};
use stepmark_frontmatter::{Edit, EditError, Region, apply};

pub use drift::{Drift, DriftChange, Merged, merge};
pub use strict_json::{JsonError, read_json};

#[derive(Debug, PartialEq, Eq)]
pub struct System {
    pub name: &'static str,
    pub begin: &'static str,
    pub mend: &'static str,
    pub import: &'static str,
    pub project: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record<K> {
    pub kind: K,
    pub id: String,
    /// Position among records of its kind.
    pub order: Option<i64>,
    /// Frontmatter without id, body and stepmark's own keys.
    pub values: SharedValues,
    pub body: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Unreadable(#[from] StateUnreadable),
    #[error("`stepmark_kind` is {found}: {} is wanted", wanted_kinds(kinds))]
    Kind { found: String, kinds: Vec<&'static str> },
    #[error("`{key}` should be a text, the id of the {kind}")]
    Id { kind: &'static str, key: &'static str },
    #[error("the body is not UTF-8")]
    Body,
}

impl<K: RecordKinds> Record<K> {
    pub fn new(kind: K, id: impl Into<String>, values: Map<String, Json>) -> Self {
        Self { kind, id: id.into(), order: None, values: values.into(), body: String::new() }
    }

    pub fn of(artifact: &Artifact) -> Result<Self, RecordError> {
        let body = &artifact.bytes()[artifact.document().body().range()];
        let body = std::str::from_utf8(body).map_err(|_| RecordError::Body)?.to_owned();
        Self::of_state(artifact.state_value()?, body)
    }

    pub fn of_state(state: Json, body: String) -> Result<Self, RecordError> {
        let Json::Object(mut values) = state else { return Err(no_kind::<K>(&Json::Null)) };
        let found = values.get(KIND_KEY).unwrap_or(&Json::Null);
        let kind = found.as_str().and_then(K::named).ok_or_else(|| no_kind::<K>(found))?;
        let key = kind.id_key();
        let id = values.get(key).and_then(Json::as_str).filter(|id| !id.is_empty());
        let id = id.ok_or(RecordError::Id { kind: kind.name(), key })?.to_owned();
        let order = values.get(ORDER).and_then(Json::as_i64);
        let foreign = values.shift_remove(FOREIGN);
        values.retain(|key, _| !owns(kind, key));
        if let Some(Json::Object(foreign)) = foreign {
            values.extend(foreign);
        }
        Ok(Self { kind, id, order, values: values.into(), body })
    }

    pub fn to_file(&self) -> Result<Vec<u8>, EditError> {
        state_file(&self.frontmatter(), &self.body)
    }

    pub fn edits_to(&self, wanted: &Self) -> Vec<Edit> {
        state_edits(&self.frontmatter(), &wanted.frontmatter())
    }

    /// Unchanged frontmatter and body keep their bytes.
    pub fn rewrite(&self, artifact: &Artifact, wanted: &Self) -> Result<Vec<u8>, EditError> {
        let edited = apply(artifact.bytes(), &Region::Frontmatter, &self.edits_to(wanted))?.bytes;
        if self.body == wanted.body {
            return Ok(edited);
        }
        let kept = edited.len() - artifact.document().body().range().len();
        Ok([&edited[..kept], wanted.body.as_bytes()].concat())
    }

    pub fn faults(&self) -> Vec<String> {
        let table = Kind::named(self.kind.name()).and_then(|kind| kind.lifecycle.as_ref());
        let status = self.values.get("status").filter(|status| !status.is_null());
        let status = table.zip(status).and_then(|(table, status)| {
            let is_known = status.as_str().is_some_and(|word| table.state_of(word).is_some());
            let states: Vec<&str> = table.states().iter().map(|state| state.name.as_str()).collect();
            (!is_known).then(|| format!("the status {status} is none of {}", listed(&states)))
        });
        status.into_iter().chain(K::fault(self)).collect()
    }

    fn frontmatter(&self) -> Map<String, Json> {
        let mut frontmatter = Map::new();
        frontmatter.insert(KIND_KEY.to_owned(), self.kind.name().into());
        frontmatter.insert(self.kind.id_key().to_owned(), self.id.as_str().into());
        let mut foreign = Map::new();
        for (key, mut value) in ordered(self.kind, &self.values) {
            fit_numbers(&mut value);
            let into = if owns(self.kind, &key) { &mut foreign } else { &mut frontmatter };
            into.insert(key, value);
        }
        if !foreign.is_empty() {
            frontmatter.insert(FOREIGN.to_owned(), foreign.into());
        }
        if let Some(order) = self.order {
            frontmatter.insert(ORDER.to_owned(), order.into());
        }
        frontmatter
    }
}

fn no_kind<K: RecordKinds>(found: &Json) -> RecordError {
    RecordError::Kind { found: found.to_string(), kinds: K::ALL.iter().map(|kind| kind.name()).collect() }
}

fn wanted_kinds(kinds: &[&str]) -> String {
    let named: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
    match named.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => named.concat(),
    }
}

/// YAML readers do not give back integers beyond signed 64 bits.
fn fit_numbers(value: &mut Json) {
    match value {
        Json::Number(number) if number.as_i64().is_none() && number.is_u64() => {
            if let Some(double) = number.as_f64() {
                *value = double.into();
            }
        }
        Json::Array(items) => items.iter_mut().for_each(fit_numbers),
        Json::Object(entries) => entries.values_mut().for_each(fit_numbers),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

pub trait RecordSet: Clone {
    type Kind: RecordKinds;

    /// `None`: a mandatory record is missing.
    fn from_records(records: impl IntoIterator<Item = Record<Self::Kind>>) -> Option<Self>;

    fn of_kind(&self, kind: Self::Kind) -> &[Record<Self::Kind>];

    fn record(&self, kind: Self::Kind, id: &str) -> Option<&Record<Self::Kind>> {
        self.of_kind(kind).iter().find(|record| record.id == id)
    }

    fn records(&self) -> impl Iterator<Item = &Record<Self::Kind>> {
        Self::Kind::ALL.iter().flat_map(|kind| self.of_kind(*kind))
    }

    fn next_order(&self, kind: Self::Kind) -> i64 {
        let last = self.of_kind(kind).iter().filter_map(|record| record.order).max();
        last.map_or(0, |last| last.saturating_add(1))
    }
}

pub(crate) fn by_kind<K: RecordKinds>(
    records: impl IntoIterator<Item = Record<K>>,
) -> BTreeMap<K, Vec<Record<K>>> {
    let mut by_kind: BTreeMap<K, Vec<Record<K>>> = BTreeMap::new();
    for record in records {
        by_kind.entry(record.kind).or_default().push(record);
    }
    for records in by_kind.values_mut() {
        records.sort_by(|one, other| place(one).cmp(&place(other)));
    }
    by_kind
}

/// Without an order last; ties by id.
fn place<K>(record: &Record<K>) -> (i64, &str) {
    (record.order.unwrap_or(i64::MAX), &record.id)
}

const ORDER: &str = "stepmark_order";

const FOREIGN: &str = "foreign";

pub trait RecordKinds: Copy + Debug + Display + Eq + Ord + Hash + 'static {
    const ALL: &'static [Self];

    fn name(self) -> &'static str;

    fn id_key(self) -> &'static str {
        "id"
    }

    fn body_key(self) -> Option<&'static str> {
        None
    }

    /// In order, without the id.
    fn keys(self) -> &'static [&'static str];

    /// Of the mapping under `key`, in order.
    fn inner_keys(self, _key: &str) -> Option<&'static [&'static str]> {
        None
    }

    /// The default: equal to a missing value.
    fn is_usual(self, _key: &str, _value: &Json) -> bool {
        false
    }

    /// A value that no command writes, in words; the status is checked elsewhere.
    fn fault(_record: &Record<Self>) -> Option<String> {
        None
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

fn owns(kind: impl RecordKinds, key: &str) -> bool {
    [KIND_KEY, ORDER, FOREIGN, "stepmark_id", "delegation", "id", kind.id_key()].contains(&key)
        || kind.body_key() == Some(key)
}

/// Unknown keys come last, in their own order.
pub(crate) fn ordered(kind: impl RecordKinds, values: &Map<String, Json>) -> Map<String, Json> {
    let entry = |(key, value): (&String, &Json)| {
        let value = match (kind.inner_keys(key), value) {
            (Some(keys), Json::Object(inner)) => in_order(keys, inner).into(),
            _ => value.clone(),
        };
        (key.clone(), value)
    };
    entries_in_order(kind.keys(), values).map(entry).collect()
}

pub(crate) fn in_order(keys: &[&str], values: &Map<String, Json>) -> Map<String, Json> {
    entries_in_order(keys, values).map(|(key, value)| (key.clone(), value.clone())).collect()
}

pub(crate) fn entries_in_order<'v>(
    keys: &[&str],
    values: &'v Map<String, Json>,
) -> impl Iterator<Item = (&'v String, &'v Json)> {
    // Fast path: keys are mostly in order.
    let mut next = 0;
    let mut rank = |key: &String| {
        let is_key = |known: &&str| *known == key;
        let (before, behind) = keys.split_at(next);
        let found = behind.iter().position(is_key).map(|place| next + place);
        let found = found.or_else(|| before.iter().position(is_key));
        next = found.map_or(next, |place| place + 1);
        found.unwrap_or(keys.len())
    };
    let mut entries: Vec<_> = values.iter().map(|entry| (rank(entry.0), entry)).collect();
    // A stable sort keeps the order of unknown keys.
    entries.sort_by_key(|(rank, _)| *rank);
    entries.into_iter().map(|(_, entry)| entry)
}

/// Not state: only projections show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Signal {
    pub agent: String,
    /// RFC 3339.
    pub at: String,
    /// The agent's own word.
    pub status: Option<String>,
    pub current: Option<String>,
    pub numbers: BTreeMap<String, i64>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub more: Map<String, Json>,
}

pub type Signals = BTreeMap<String, Signal>;

/// Updates and returns newer signals; an unreadable time is the oldest.
pub fn take_newer(signals: &mut Signals, told: Signals) -> Vec<Signal> {
    let mut newer = Vec::new();
    for (agent, signal) in told {
        let is_newer = |own: &Signal| read_time(&own.at) < read_time(&signal.at);
        if signals.get(&agent).is_none_or(is_newer) {
            newer.push(signal.clone());
            signals.insert(agent, signal);
        }
    }
    newer
}

/// Follow the clock; never compared.
pub(crate) const VOLATILE: [&str; 4] = ["last_updated", "last_activity", "last_seen", "last_heartbeat"];

impl<K> Record<K> {
    /// `None` also for empty texts and other types.
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

    /// UTC without a zone.
    pub fn time(&self, key: &str) -> Option<Timestamp> {
        read_time(self.text(key)?)
    }

    pub fn set(&mut self, key: &str, value: impl Into<Json>) {
        self.values.insert(key.to_owned(), value.into());
    }
}

/// Of the canonical JSON (RFC 8785), without order, volatile times and empty entries.
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

/// Without empty entries; times in one spelling.
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

/// UTC without a zone.
pub fn read_time(text: &str) -> Option<Timestamp> {
    let zoned = text.parse::<Timestamp>().ok();
    zoned.or_else(|| Some(text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp()))
}

/// Copy-on-write.
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

/// The id if it is a plain name, else a similar one.
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
