//! A change of a record that was decided on, and whoever makes it.

use serde_json::{Map, Value as Json};

use super::{FlowKind, FlowRecord, FlowRefusal, HumanAction, refusal::legal_moves};
use crate::lifecycle::{Guard, built_in};

/// The actor, the time and the reason of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acting {
    /// The actor, `human:Ada`.
    pub actor: String,
    /// The time (RFC 3339).
    pub now: String,
    /// The reason.
    pub reason: Option<String>,
}

/// A record as it is to be, and what history is told.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordChange {
    /// The record after the change.
    pub record: FlowRecord,
    /// The kind of the event.
    pub event: &'static str,
    /// Further facts of it.
    pub facts: Map<String, Json>,
    /// True if a person insists on what a guard stands against.
    pub is_override: bool,
}

impl Acting {
    /// Returns whether a person acts.
    pub fn is_human(&self) -> bool {
        self.actor.starts_with("human:")
    }

    /// Refuses `action` where no person acts; what anybody may do to `record` is named.
    pub(super) fn must_be_human(
        &self,
        action: &'static str,
        kind: FlowKind,
        record: &FlowRecord,
    ) -> Result<(), FlowRefusal> {
        if self.is_human() {
            return Ok(());
        }
        let table = built_in(kind.lifecycle());
        let is_free = |to: &String| {
            let verdict = table.and_then(|table| table.legal_move(Some(record.status()), to, None).ok());
            verdict.is_some_and(|verdict| !verdict.wants(&Guard::Human))
        };
        let legal = legal_moves(kind, record.status()).into_iter().filter(is_free).collect();
        Err(FlowRefusal::NotHuman { action, actor: self.actor.clone(), legal })
    }

    /// The act, as records keep it.
    pub(super) fn action(&self, action: &str) -> HumanAction {
        HumanAction {
            action: action.to_owned(),
            actor: self.actor.clone(),
            decided_at: self.now.clone(),
            reason: self.reason.clone(),
        }
    }
}

impl RecordChange {
    /// A change that is told as `event`, of the status `from` where it moves.
    pub(super) fn new(before: &FlowRecord, record: FlowRecord, event: &'static str) -> Self {
        let mut facts = Map::new();
        if before.status() != record.status() {
            facts.insert("from".to_owned(), before.status().into());
            facts.insert("to".to_owned(), record.status().into());
        }
        Self { record, event, facts, is_override: false }
    }

    /// A record that is new.
    pub fn created(record: FlowRecord, event: &'static str) -> Self {
        Self { record, event, facts: Map::new(), is_override: false }
    }

    /// The same with one more fact.
    pub(super) fn with(mut self, name: &str, fact: impl Into<Json>) -> Self {
        self.facts.insert(name.to_owned(), fact.into());
        self
    }
}

/// Refuses a move of a record that is in another status than those of `wanted`.
pub(super) fn check_status(
    record: &FlowRecord,
    kind: FlowKind,
    made: &'static str,
    wanted: &'static [&'static str],
) -> Result<(), FlowRefusal> {
    if wanted.contains(&record.status()) {
        return Ok(());
    }
    let (id, status) = (record.id().to_owned(), record.status().to_owned());
    Err(FlowRefusal::Status { kind, id, status, made, wanted })
}
