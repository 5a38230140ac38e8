//! The kinds of records that a system has, and the order of their keys.

use super::{Record, read_time};
use crate::artifact::KIND_KEY;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::fmt::{Debug, Display};
use std::hash::Hash;

pub(super) const ORDER: &str = "stepmark_order";

pub(super) const FOREIGN: &str = "foreign";

pub trait RecordKinds: Copy + Debug + Display + Eq + Ord + Hash + 'static {
    const ALL: &'static [Self];

    fn name(self) -> &'static str;

    fn id_key(self) -> &'static str {
        "id"
    }

    fn body_key(self) -> Option<&'static str> {
        None
    }

    /// Its keys behind the id, in order.
    fn keys(self) -> &'static [&'static str];

    /// The keys of the mapping under `key`, in order, where it has one.
    fn inner_keys(self, _key: &str) -> Option<&'static [&'static str]> {
        None
    }

    /// Returns whether a record says the same without this value.
    fn is_usual(self, _key: &str, _value: &Json) -> bool {
        false
    }

    /// A value besides the status that no command gives such a record, in words.
    fn fault(_record: &Record<Self>) -> Option<String> {
        None
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

pub(super) fn owns(kind: impl RecordKinds, key: &str) -> bool {
    [KIND_KEY, ORDER, FOREIGN, "stepmark_id", "delegation", "id", kind.id_key()].contains(&key)
        || kind.body_key() == Some(key)
}

/// `values` in the order of the keys of `kind`; those that it does not know follow in their own.
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

/// `values` with those of `keys` first.
pub(crate) fn in_order(keys: &[&str], values: &Map<String, Json>) -> Map<String, Json> {
    entries_in_order(keys, values).map(|(key, value)| (key.clone(), value.clone())).collect()
}

pub(crate) fn entries_in_order<'v>(
    keys: &[&str],
    values: &'v Map<String, Json>,
) -> impl Iterator<Item = (&'v String, &'v Json)> {
    // Mostly they stand in order already: the next one is looked for behind the last.
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
    // The sort keeps the order of those that are not known.
    entries.sort_by_key(|(rank, _)| *rank);
    entries.into_iter().map(|(_, entry)| entry)
}

/// A sign of life of an agent. It is no state: only projections show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Signal {
    pub agent: String,
    /// The time (RFC 3339).
    pub at: String,
    /// A word of the agent for what it is.
    pub status: Option<String>,
    pub current: Option<String>,
    pub numbers: BTreeMap<String, i64>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub more: Map<String, Json>,
}

pub type Signals = BTreeMap<String, Signal>;

/// Takes those of `told` that are newer than what `signals` have of the same agent, and returns them. One
/// whose time cannot be read is older than any other.
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
