//! Typed reads of tasks.

use serde_json::Value as Json;

use super::{Record, RecordKind, dependencies::state_of};

/// The priority of a task that says none.
pub(super) const USUAL_PRIORITY: i64 = 5;

/// The number of attempts that a task has where it says nothing.
pub(super) const USUAL_ATTEMPTS: i64 = 3;

impl Record {
    /// The status word; `available` where the task says none, and nothing where it is no text.
    pub fn status(&self) -> &str {
        match self.values.get("status") {
            None | Some(Json::Null) => "available",
            Some(status) => status.as_str().unwrap_or_default(),
        }
    }

    /// The agent that has the task.
    pub fn claimed_by(&self) -> Option<&str> {
        self.text("claimed_by")
    }

    /// The ids of the tasks that have to be done before.
    pub fn dependencies(&self) -> Vec<&str> {
        self.texts("dependencies")
    }

    /// The priority: 1 is the highest, 10 the lowest.
    pub fn priority(&self) -> i64 {
        self.number("priority").unwrap_or(USUAL_PRIORITY)
    }

    /// Returns whether its priority is no whole number from 1 to 10.
    pub(crate) fn has_odd_priority(&self) -> bool {
        let is_in_range = |number| (1..=10).contains(&number);
        let odd = |priority: &Json| !priority.is_null() && !priority.as_i64().is_some_and(is_in_range);
        self.values.get("priority").is_some_and(odd)
    }

    /// Returns whether it is a task with a status or a priority that no command gives.
    pub fn is_odd(&self) -> bool {
        self.kind == RecordKind::Task && (state_of(self).is_none() || self.has_odd_priority())
    }

    /// The priority that counts when tasks are claimed: a boost makes it higher.
    pub fn effective_priority(&self) -> i64 {
        self.priority().saturating_sub(self.number("priority_boost").unwrap_or_default()).max(1)
    }

    /// The capabilities under `key`: a list, or a text with commas.
    pub fn capabilities(&self, key: &str) -> Vec<&str> {
        match self.text(key) {
            Some(text) => text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect(),
            None => self.texts(key),
        }
    }

    /// The number of times that the task has been tried, the most that it may be, and the key that counts.
    pub fn attempts(&self) -> (i64, i64, &'static str) {
        let (count, most) = if self.counts_attempts() {
            ("attempts", "max_attempts")
        } else {
            ("retry_count", "max_retries")
        };
        (self.number(count).unwrap_or_default(), self.number(most).unwrap_or(USUAL_ATTEMPTS), count)
    }

    /// Returns whether the task counts its claims, not its retries.
    pub(super) fn counts_attempts(&self) -> bool {
        ["attempts", "max_attempts"].iter().any(|key| self.number(key).is_some())
    }
}
