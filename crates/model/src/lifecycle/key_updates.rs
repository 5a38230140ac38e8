//! Keys that a move writes beside the status.

use super::{Counter, Lifecycle, LifecycleState, RootKeys};

/// A change of a frontmatter key that goes with a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyUpdate {
    /// The state that was left is remembered.
    Remember {
        /// The key.
        key: String,
        /// The name of the state.
        state: String,
    },
    /// The remembered state is removed.
    Forget {
        /// The key.
        key: String,
    },
    /// A number has a new value.
    Count {
        /// The key.
        key: String,
        /// The value.
        value: u64,
    },
}

impl Lifecycle {
    /// The keys that a move from `from` to `to` writes beside the status. A counter that is no number is left
    /// as it is.
    pub fn key_updates(
        &self,
        from: Option<&LifecycleState>,
        to: &LifecycleState,
        keys: &RootKeys,
    ) -> Vec<KeyUpdate> {
        if from.is_some_and(|from| from.name == to.name) {
            return Vec::new();
        }
        let mut changes = Vec::new();
        let left = from.map(|from| from.return_to.as_slice()).unwrap_or_default();
        for key in left.iter().filter(|key| keys.has(key) && !to.return_to.contains(key)) {
            changes.push(KeyUpdate::Forget { key: key.clone() });
        }
        if let (Some(key), Some(from)) = (to.return_to.last(), from) {
            changes.push(KeyUpdate::Remember { key: key.clone(), state: from.name.clone() });
        }
        changes
            .extend(to.sets.iter().map(|(key, value)| KeyUpdate::Count { key: key.clone(), value: *value }));
        changes.extend(self.counters.iter().filter_map(|counter| counter.after_entering(to, keys)));
        changes
    }
}

impl Counter {
    /// Its statement.
    ///
    /// # Errors
    /// The text under its key, where that is no number.
    pub fn count<'k>(&self, keys: &'k RootKeys) -> Result<u64, &'k str> {
        match keys.text(&self.key) {
            None => Ok(0),
            Some(text) => text.trim().parse().map_err(|_| text),
        }
    }

    fn after_entering(&self, to: &LifecycleState, keys: &RootKeys) -> Option<KeyUpdate> {
        let count = self.count(keys).ok()?;
        let value = if self.entering.contains(&to.name) {
            count.saturating_add(1)
        } else if self.reset_by.contains(&to.name) && count > 0 {
            0
        } else {
            return None;
        };
        Some(KeyUpdate::Count { key: self.key.clone(), value })
    }
}
