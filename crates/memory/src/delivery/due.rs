//! The units whose moment has come.

use jiff::Timestamp;

use crate::{Tier, target::Unit};

/// The tiers that a store is given, and the last milestone.
#[derive(Clone, Debug)]
pub struct Due {
    /// The tiers.
    pub tiers: Vec<Tier>,
    /// The time of the last milestone: a checkpoint, the end of a session, of a flow, of an artifact's work.
    pub milestone: Option<Timestamp>,
    /// The time.
    pub now: Timestamp,
}

impl Due {
    /// Returns whether a unit is to be given now. A record that has ended is not; the graph beside records is
    /// given with the first milestone.
    pub fn has_come(&self, unit: &Unit) -> bool {
        let Some(record) = &unit.record else {
            return self.tiers.contains(&Tier::Milestone) && self.milestone.is_some();
        };
        let has_come = match record.tier {
            Tier::Milestone => self.milestone.is_some_and(|at| record.created_at <= at),
            // A summary is there from the end of its session.
            Tier::Continuous | Tier::Session => true,
        };
        has_come && self.tiers.contains(&record.tier) && !record.is_expired(self.now)
    }
}
