//! All records of a coordination, and what is known of its agents besides.

use std::{collections::HashMap, sync::OnceLock};

use super::{Record, RecordKind};
use crate::records::{RecordSet, by_kind};

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

impl RecordSet for State {
    type Kind = RecordKind;

    fn from_records(records: impl IntoIterator<Item = Record>) -> Option<Self> {
        let mut by_kind = by_kind(records);
        let mut take = |kind| by_kind.remove(&kind).unwrap_or_default();
        Some(Self {
            root: take(RecordKind::Coordination).into_iter().next()?,
            tasks: take(RecordKind::Task),
            agents: take(RecordKind::Agent),
            discoveries: take(RecordKind::Discovery),
            places: Places::default(),
        })
    }

    fn record(&self, kind: RecordKind, id: &str) -> Option<&Record> {
        let found = if kind == RecordKind::Task { self.places.find(&self.tasks, id) } else { None };
        found.or_else(|| self.of_kind(kind).iter().find(|record| record.id == id))
    }

    fn of_kind(&self, kind: RecordKind) -> &[Record] {
        match kind {
            RecordKind::Coordination => std::slice::from_ref(&self.root),
            RecordKind::Task => &self.tasks,
            RecordKind::Agent => &self.agents,
            RecordKind::Discovery => &self.discoveries,
        }
    }
}

impl State {
    /// The task with this id.
    pub fn task(&self, id: &str) -> Option<&Record> {
        self.record(RecordKind::Task, id)
    }

    /// The agent with this id.
    pub fn agent(&self, id: &str) -> Option<&Record> {
        self.record(RecordKind::Agent, id)
    }
}
