//! All records of a coordination, and signals of its agents.

use super::{Format, Record, RecordKind, read, render};
use crate::records;
use crate::records::{RecordSet, Signals, by_kind, read_time};
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Goal, plan and other singletons.
    pub root: Record,
    pub tasks: Vec<Record>,
    pub agents: Vec<Record>,
    pub discoveries: Vec<Record>,
    pub(super) places: Places,
}

/// Index by id, built on first use. Stale entries count as missing.
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
    pub fn task(&self, id: &str) -> Option<&Record> {
        self.record(RecordKind::Task, id)
    }

    pub fn agent(&self, id: &str) -> Option<&Record> {
        self.record(RecordKind::Agent, id)
    }
}

const STATUSES: [&str; 8] =
    ["pending", "blocked", "available", "claimed", "in_progress", "done", "failed", "cancelled"];

#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    pub goal: String,
    /// Statuses with tasks only.
    pub counts: Vec<(String, usize)>,
    pub total: usize,
    /// One decimal.
    pub percent: f64,
    pub agents: usize,
    pub leaders: usize,
    /// Leaders excluded.
    pub workers: usize,
    pub active: usize,
    pub discoveries: usize,
    pub last_activity: String,
}

impl Overview {
    pub fn of(state: &State, signals: &Signals, now: Timestamp, inactive_seconds: u32) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        state.tasks.iter().for_each(|task| *counts.entry(task.status()).or_default() += 1);
        let place = |status: &str| STATUSES.iter().position(|own| *own == status).unwrap_or(STATUSES.len());
        let mut counts: Vec<(String, usize)> =
            counts.into_iter().map(|(status, count)| (status.to_owned(), count)).collect();
        counts.sort_by(|one, other| (place(&one.0), &one.0).cmp(&(place(&other.0), &other.0)));
        let done = state.tasks.iter().filter(|task| task.status() == "done").count();
        let leaders = state.agents.iter().filter(|agent| agent.text("role") == Some("leader")).count();
        let is_active = |id: &str| {
            let seen = signals.get(id).and_then(|signal| read_time(&signal.at));
            seen.is_some_and(|at| {
                now.as_second().saturating_sub(at.as_second()) <= i64::from(inactive_seconds)
            })
        };
        Self {
            goal: state.root.text("goal").unwrap_or_default().to_owned(),
            total: state.tasks.len(),
            percent: percent(done, state.tasks.len()),
            counts,
            agents: state.agents.len(),
            leaders,
            workers: state.agents.len() - leaders,
            active: state.agents.iter().filter(|agent| is_active(&agent.id)).count(),
            discoveries: state.discoveries.len(),
            last_activity: latest_time(state, signals),
        }
    }

    pub fn to_json(&self) -> Json {
        let counts: serde_json::Map<String, Json> =
            self.counts.iter().map(|(status, count)| (status.clone(), (*count).into())).collect();
        json!({
            "goal": self.goal,
            "tasks": counts,
            "total_tasks": self.total,
            "progress_percent": self.percent,
            "agents": {
                "total": self.agents,
                "leaders": self.leaders,
                "workers": self.workers,
                "active": self.active,
            },
            "discoveries_count": self.discoveries,
            "last_activity": self.last_activity,
        })
    }
}

/// From records and signals only, so equal inputs give equal times.
pub fn latest_time(state: &State, signals: &Signals) -> String {
    let told = state.records().flat_map(|record| {
        let keys = record.values.keys().filter(|key| key.ends_with("_at") && *key != "next_retry_at");
        keys.filter_map(|key| record.time(key))
    });
    let seen = signals.values().filter_map(|signal| read_time(&signal.at));
    told.chain(seen).max().unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of tasks are far below 2^52")]
fn percent(done: usize, total: usize) -> f64 {
    if total == 0 { 0.0 } else { (done as f64 * 1000.0 / total as f64).round() / 10.0 }
}

pub type Drift = records::Drift<RecordKind>;

pub type Merged = records::Merged<State>;

/// After a round trip through `format`, which drops what it cannot hold.
pub fn seen(format: Format, state: &State) -> State {
    read(format, &render(format, state, &Signals::new(), "")).unwrap_or_else(|_| state.clone())
}

/// See [`records::merge`].
pub fn merge(
    format: Format,
    (base, theirs, ours): (Option<&State>, &State, &State),
    is_overwritten: &dyn Fn(&str) -> bool,
) -> Merged {
    let shown = seen(format, ours);
    records::merge((base, &without_filled_in(format, theirs, &shown)), (ours, &shown), is_overwritten)
}

/// An orchestrator sets a language model for each agent without one.
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
