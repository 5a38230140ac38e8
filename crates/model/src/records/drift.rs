//! Changes by other programs in their files, per record.

use std::collections::{BTreeSet, HashMap};

use super::{Record, RecordKinds, RecordSet, said, values_digest};
use crate::artifact::FileHash;

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Drift<K> {
    pub kind: K,
    pub id: String,
    pub change: DriftChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DriftChange {
    Changed,
    Added,
    Removed,
}

impl DriftChange {
    /// `changed`, `added` or `removed`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Merged<S: RecordSet> {
    pub state: S,
    pub drift: Vec<Drift<S::Kind>>,
}

/// Three-way merge per record; `shown` is `ours` after a round trip through the files' format. A record of
/// `theirs` that differs from `base` (written last) and from `ours` is kept, unless `is_overwritten`. Without
/// a base, every difference is theirs.
pub fn merge<S: RecordSet>(
    (base, theirs): (Option<&S>, &S),
    (ours, shown): (&S, &S),
    is_overwritten: &dyn Fn(&str) -> bool,
) -> Merged<S> {
    let mut drift = Vec::new();
    let mut records = Vec::new();
    for kind in S::Kind::ALL.iter().copied() {
        let their_digests = digests(theirs, kind);
        let (shown, base) = (digests(shown, kind), base.map(|base| digests(base, kind)));
        let changed = |id: &str| {
            let their = their_digests.get(id);
            let is_new = base.as_ref().is_none_or(|base| base.get(id) != their);
            if their == shown.get(id) || !is_new {
                return None;
            }
            Some(match (their, shown.get(id)) {
                (None, _) => DriftChange::Removed,
                (Some(_), None) => DriftChange::Added,
                (Some(_), Some(_)) => DriftChange::Changed,
            })
        };
        let ids: BTreeSet<&str> = their_digests.keys().chain(shown.keys()).copied().collect();
        let changes: HashMap<&str, DriftChange> =
            ids.iter().filter_map(|id| Some((*id, changed(id)?))).collect();
        for record in ours.of_kind(kind) {
            match changes.get(record.id.as_str()).filter(|_| !is_overwritten(&record.id)) {
                None => records.push(record.clone()),
                Some(DriftChange::Removed) => {}
                Some(_) => {
                    let their = theirs.record(kind, &record.id).cloned();
                    records.extend(their.map(|their| Record { order: record.order, ..their }));
                }
            }
        }
        let next = ours.next_order(kind);
        let added = theirs
            .of_kind(kind)
            .iter()
            .filter(|their| changes.get(their.id.as_str()) == Some(&DriftChange::Added))
            .filter(|their| !is_overwritten(&their.id));
        records.extend(added.map(|their| Record {
            order: their.order.map(|order| order.saturating_add(next)),
            ..their.clone()
        }));
        drift.extend(
            ids.into_iter()
                .filter_map(|id| Some(Drift { kind, id: id.to_owned(), change: *changes.get(id)? })),
        );
    }
    let state = S::from_records(records).unwrap_or_else(|| ours.clone());
    Merged { state, drift }
}

fn digests<S: RecordSet>(state: &S, kind: S::Kind) -> HashMap<&str, FileHash> {
    state.of_kind(kind).iter().map(|record| (record.id.as_str(), values_digest(record))).collect()
}

impl<K: RecordKinds> Record<K> {
    /// `seen` is this record after a round trip: values that the format cannot hold are kept.
    #[must_use]
    pub fn taking(&self, seen: &Self, theirs: &Self) -> Self {
        let mut taken = self.clone();
        let keys: BTreeSet<&String> = seen.values.keys().chain(theirs.values.keys()).collect();
        for key in keys {
            let (seen, their) = (seen.values.get(key), theirs.values.get(key));
            let says = |value: Option<&serde_json::Value>| {
                let value = value.filter(|value| !self.kind.is_usual(key, value));
                said(&[(key.clone(), value.cloned().unwrap_or_default())].into_iter().collect())
            };
            if says(seen) == says(their) {
                continue;
            }
            match their {
                Some(value) => drop(taken.values.insert(key.clone(), value.clone())),
                None => drop(taken.values.shift_remove(key)),
            }
        }
        if seen.body != theirs.body {
            taken.body.clone_from(&theirs.body);
        }
        taken
    }
}
