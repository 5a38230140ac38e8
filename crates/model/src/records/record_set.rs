//! All records of a system.

use std::collections::BTreeMap;

use super::{Record, RecordKinds};

/// All records of a system in a project.
pub trait RecordSet: Clone {
    /// The kinds of its records.
    type Kind: RecordKinds;

    /// Those with these records; `None` where one is missing without which there are none.
    fn from_records(records: impl IntoIterator<Item = Record<Self::Kind>>) -> Option<Self>;

    /// The records of `kind`, in the order of their places.
    fn of_kind(&self, kind: Self::Kind) -> &[Record<Self::Kind>];

    /// The record of `kind` with this id.
    fn record(&self, kind: Self::Kind, id: &str) -> Option<&Record<Self::Kind>> {
        self.of_kind(kind).iter().find(|record| record.id == id)
    }

    /// All records, kind by kind.
    fn records(&self) -> impl Iterator<Item = &Record<Self::Kind>> {
        Self::Kind::ALL.iter().flat_map(|kind| self.of_kind(*kind))
    }

    /// The place of the next new record of `kind`.
    fn next_order(&self, kind: Self::Kind) -> i64 {
        let last = self.of_kind(kind).iter().filter_map(|record| record.order).max();
        last.map_or(0, |last| last.saturating_add(1))
    }
}

/// `records` by their kinds, in the order of their places.
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
