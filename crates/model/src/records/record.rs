//! A record: what one artifact of a system says.

use super::kinds::{FOREIGN, ORDER, ordered, owns};
use super::{RecordKinds, SharedValues};
use crate::artifact::{Artifact, KIND_KEY, Kind, StateUnreadable, state_edits, state_file};
use crate::spelling::listed;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use stepmark_frontmatter::{Edit, EditError, Region, apply};

/// A record: the values of one artifact of a system, as files of other formats have them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record<K> {
    pub kind: K,
    pub id: String,
    /// Its place among the others of its kind, which stand in this order in lists.
    pub order: Option<i64>,
    /// The values of its frontmatter but id, body and keys of stepmark's own.
    pub values: SharedValues,
    /// Its body, which other formats have for kinds with [`RecordKinds::body_key`].
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

    /// Reads the record that a frontmatter with these values says.
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

    /// The bytes of a new artifact that says it.
    pub fn to_file(&self) -> Result<Vec<u8>, EditError> {
        state_file(&self.frontmatter(), &self.body)
    }

    pub fn edits_to(&self, wanted: &Self) -> Vec<Edit> {
        state_edits(&self.frontmatter(), &wanted.frontmatter())
    }

    /// The bytes of `artifact`, which says this record, when it says `wanted`. Frontmatter and body that do
    /// not differ keep their bytes.
    pub fn rewrite(&self, artifact: &Artifact, wanted: &Self) -> Result<Vec<u8>, EditError> {
        let edited = apply(artifact.bytes(), &Region::Frontmatter, &self.edits_to(wanted))?.bytes;
        if self.body == wanted.body {
            return Ok(edited);
        }
        let kept = edited.len() - artifact.document().body().range().len();
        Ok([&edited[..kept], wanted.body.as_bytes()].concat())
    }

    /// The values that no command gives such a record, in words.
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

/// Makes integers beyond 64 bits with a sign numbers that YAML readers give back.
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

    /// Those with these records; `None` where one is missing without which there are none.
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

/// The place of a record, behind all others where it has none; ties by id.
fn place<K>(record: &Record<K>) -> (i64, &str) {
    (record.order.unwrap_or(i64::MAX), &record.id)
}
