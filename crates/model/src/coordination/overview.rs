//! The progress of a coordination.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::State;
use crate::records::{RecordSet, Signals, read_time};

/// The words of status, in the order in which a task goes through them.
const STATUSES: [&str; 8] =
    ["pending", "blocked", "available", "claimed", "in_progress", "done", "failed", "cancelled"];

/// The progress of a coordination.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Overview {
    /// The goal.
    pub goal: String,
    /// The number of tasks with each status that a task has.
    pub counts: Vec<(String, usize)>,
    /// The number of tasks.
    pub total: usize,
    /// The part of them that is done, in percent with one decimal.
    pub percent: f64,
    /// The number of agents.
    pub agents: usize,
    /// The number of those who lead.
    pub leaders: usize,
    /// The number of those who are no leaders.
    pub workers: usize,
    /// The number of agents that were seen lately.
    pub active: usize,
    /// The number of discoveries.
    pub discoveries: usize,
    /// The time of the latest change or sign of life.
    pub last_activity: String,
}

impl Overview {
    /// The state of `state` at `now`; an agent that was silent for longer than `inactive_seconds` does not
    /// count as active.
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

    /// As the answer of `get_status`.
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

/// The time of the latest change that a record tells, or of the latest sign of life: the same records and
/// signs give the same.
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
