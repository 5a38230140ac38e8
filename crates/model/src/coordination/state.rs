//! All records of a coordination, and what is known of its agents besides.

use std::{
    collections::{BTreeMap, HashMap},
    sync::OnceLock,
};

use serde::{Deserialize, Serialize};

use super::{Record, RecordKind};

/// All records of a coordination, in the order of their places.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The goal, the plan, and what else there is one of.
    pub root: Record,
    /// The tasks.
    pub tasks: Vec<Record>,
    /// The agents.
    pub agents: Vec<Record>,
    /// The discoveries.
    pub discoveries: Vec<Record>,
    /// The places of the tasks.
    pub(super) places: Places,
}

/// The places of records by their ids, made at the first question. A place that holds no more is none.
#[derive(Debug, Default)]
pub(super) struct Places(OnceLock<HashMap<String, usize>>);

impl Places {
    fn find<'r>(&self, records: &'r [Record], id: &str) -> Option<&'r Record> {
        let entry = |(place, record): (usize, &Record)| (record.id.clone(), place);
        let places = self.0.get_or_init(|| records.iter().enumerate().map(entry).collect());
        records.get(*places.get(id)?).filter(|record| record.id == id)
    }
}

impl Clone for Places {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A sign of life of an agent. It is no state: only projections show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Signal {
    /// The agent.
    pub agent: String,
    /// The time (RFC 3339).
    pub at: String,
    /// A word of the agent for what it is.
    pub status: Option<String>,
    /// The task that it works on.
    pub current: Option<String>,
    /// Its numbers.
    pub numbers: BTreeMap<String, i64>,
}

/// The last sign of life of each agent.
pub type Signals = BTreeMap<String, Signal>;

impl State {
    /// A state with these records; `None` without one of the kind [`RecordKind::Coordination`].
    pub fn from_records(records: impl IntoIterator<Item = Record>) -> Option<Self> {
        let mut by_kind: BTreeMap<RecordKind, Vec<Record>> = BTreeMap::new();
        for record in records {
            by_kind.entry(record.kind).or_default().push(record);
        }
        let mut take = |kind| {
            let mut records = by_kind.remove(&kind).unwrap_or_default();
            records.sort_by(|one, other| place(one).cmp(&place(other)));
            records
        };
        Some(Self {
            root: take(RecordKind::Coordination).into_iter().next()?,
            tasks: take(RecordKind::Task),
            agents: take(RecordKind::Agent),
            discoveries: take(RecordKind::Discovery),
            places: Places::default(),
        })
    }

    /// All records, the one of the coordination first.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        let root = std::iter::once(&self.root);
        root.chain(&self.tasks).chain(&self.agents).chain(&self.discoveries)
    }

    /// The record of `kind` with this id.
    pub fn record(&self, kind: RecordKind, id: &str) -> Option<&Record> {
        let found = if kind == RecordKind::Task { self.places.find(&self.tasks, id) } else { None };
        found.or_else(|| self.of_kind(kind).iter().find(|record| record.id == id))
    }

    /// The task with this id.
    pub fn task(&self, id: &str) -> Option<&Record> {
        self.record(RecordKind::Task, id)
    }

    /// The agent with this id.
    pub fn agent(&self, id: &str) -> Option<&Record> {
        self.record(RecordKind::Agent, id)
    }

    /// The records of `kind`.
    pub fn of_kind(&self, kind: RecordKind) -> &[Record] {
        match kind {
            RecordKind::Coordination => std::slice::from_ref(&self.root),
            RecordKind::Task => &self.tasks,
            RecordKind::Agent => &self.agents,
            RecordKind::Discovery => &self.discoveries,
        }
    }

    /// The place of the next new record of `kind`.
    pub fn next_order(&self, kind: RecordKind) -> i64 {
        let last = self.of_kind(kind).iter().filter_map(|record| record.order).max();
        last.map_or(0, |last| last.saturating_add(1))
    }
}

/// The place of a record, behind all others where it has none; ties by id.
fn place(record: &Record) -> (i64, &str) {
    (record.order.unwrap_or(i64::MAX), &record.id)
}
