//! The facts about a coordination that its records are held against.

use std::collections::BTreeSet;

use super::{Format, Record, State, held_by, is_done};

/// The facts about a coordination that its records are held against.
#[derive(Clone, Debug)]
pub struct CoordinationFacts {
    /// All records.
    pub state: State,
    /// The format of the files that follow them.
    pub format: Format,
    /// The number of tasks that an agent may hold at once.
    pub claims_per_agent: usize,
    /// The ids of tasks whose agents are silent for too long.
    pub orphaned: BTreeSet<String>,
}

impl CoordinationFacts {
    /// The tasks that `task` depends on and that are there, but not done.
    pub(crate) fn undone<'t>(&self, task: &'t Record) -> Vec<&'t str> {
        let mut undone = task.dependencies();
        undone.retain(|id| self.state.task(id).is_some_and(|task| !is_done(task)));
        undone
    }

    /// The other tasks of the agent that has `task`, where it has more than it may and they come first.
    pub(crate) fn held_before(&self, task: &Record) -> Option<(&str, Vec<&str>)> {
        let held = held_by(&self.state, task.claimed_by()?);
        let place = held.iter().position(|held| held.id == task.id)?;
        let before = held[..place].iter().map(|held| held.id.as_str()).collect();
        (place >= self.claims_per_agent).then_some((held[place].claimed_by()?, before))
    }
}
