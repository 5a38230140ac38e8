//! Changes that other programs made in their files, by record.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
};

use super::{
    Format, Record, RecordKind, Signals, State, read, render,
    values::{is_usual, said, values_digest},
};
use crate::artifact::FileHash;

/// A record that somebody else has changed in a file that is written from artifacts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// Its kind.
    pub kind: RecordKind,
    /// Its id.
    pub id: String,
    /// The change.
    pub change: DriftChange,
}

/// A change of a record by somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriftChange {
    /// It says something else.
    Changed,
    /// It is new.
    Added,
    /// It is gone.
    Removed,
}

impl DriftChange {
    /// Its word: `changed`, `added` or `removed`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

/// The records as they are to be written, and those that stay as somebody else has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The records.
    pub state: State,
    /// The records in drift.
    pub drift: Vec<Drift>,
}

/// The state as a reader of `format` sees it: what the format does not hold is missing.
pub fn seen(format: Format, state: &State) -> State {
    // What was just written is read.
    read(format, &render(format, state, &Signals::new(), "")).unwrap_or_else(|_| state.clone())
}

/// Merges what stands in the files of `format` with what is to stand there. A record of `theirs` that is
/// neither that of `base`, which was written last, nor `ours` stays as it is; all others are ours. Without a
/// base every difference is theirs.
pub fn merge(format: Format, base: Option<&State>, theirs: &State, ours: &State) -> Merged {
    let shown = seen(format, ours);
    let theirs = &without_filled_in(format, theirs, &shown);
    let mut drift = Vec::new();
    let mut records = Vec::new();
    for kind in RecordKind::ALL {
        let their_digests = digests(theirs, kind);
        let (shown, base) = (digests(&shown, kind), base.map(|base| digests(base, kind)));
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
            match changes.get(record.id.as_str()) {
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
            .filter(|their| changes.get(their.id.as_str()) == Some(&DriftChange::Added));
        records.extend(added.map(|their| Record {
            order: their.order.map(|order| order.saturating_add(next)),
            ..their.clone()
        }));
        drift.extend(
            ids.into_iter()
                .filter_map(|id| Some(Drift { kind, id: id.to_owned(), change: *changes.get(id)? })),
        );
    }
    let state = State::from_records(records).unwrap_or_else(|| ours.clone());
    Merged { state, drift }
}

/// `theirs` without the language model that an orchestrator fills in for each agent whose record names none.
fn without_filled_in<'s>(format: Format, theirs: &'s State, shown: &State) -> Cow<'s, State> {
    const MODEL: &str = "model";
    let mut theirs = Cow::Borrowed(theirs);
    if format == Format::OrchestratorState {
        for agent in shown.agents.iter().filter(|agent| !agent.values.contains_key(MODEL)) {
            let is_filled_in = |their: &Record| their.id == agent.id && their.values.contains_key(MODEL);
            if let Some(place) = theirs.agents.iter().position(is_filled_in) {
                theirs.to_mut().agents[place].values.shift_remove(MODEL);
            }
        }
    }
    theirs
}

fn digests(state: &State, kind: RecordKind) -> HashMap<&str, FileHash> {
    state.of_kind(kind).iter().map(|record| (record.id.as_str(), values_digest(record))).collect()
}

impl Record {
    /// This record with what `theirs` says otherwise than `seen`, which is this record as a reader of their
    /// format sees it: what the format does not hold stays.
    #[must_use]
    pub fn taking(&self, seen: &Self, theirs: &Self) -> Self {
        let mut taken = self.clone();
        let keys: BTreeSet<&String> = seen.values.keys().chain(theirs.values.keys()).collect();
        for key in keys {
            let (seen, their) = (seen.values.get(key), theirs.values.get(key));
            let says = |value: Option<&serde_json::Value>| {
                let value = value.filter(|value| !is_usual(self.kind, key, value));
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
