//! The units whose moment has come.

use jiff::Timestamp;

use crate::{Tier, target::Unit};

/// The tiers that a store is given, and the last milestone.
#[derive(Clone, Debug)]
pub struct Due {
    pub tiers: Vec<Tier>,
    /// The time of the last milestone: a checkpoint, the end of a session, of a flow, of an artifact's work.
    pub milestone: Option<Timestamp>,
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
        // A secret whose memory was superseded is nobody's trouble any more.
        let is_over = record.is_expired(self.now) || !unit.superseded_by.is_empty() && unit.has_secret();
        has_come && self.tiers.contains(&record.tier) && !is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        MemoryKind,
        store::cases::{memory_of, told},
    };

    #[test]
    fn each_tier_has_its_moment() {
        let kinds = [MemoryKind::Decision, MemoryKind::Pattern, MemoryKind::Observation];
        let events = (0..).zip(kinds).map(|(at, kind)| told(kind.name(), kind, "s1", at)).collect();
        let units = memory_of(&[events]).units().unwrap();
        let at = |second: i64| Timestamp::from_second(1_700_000_000 + second).unwrap();
        let given = |tiers: &[Tier], milestone: Option<i64>, now: i64| -> Vec<&str> {
            let due = Due { tiers: tiers.to_vec(), milestone: milestone.map(at), now: at(now) };
            let due = units.iter().filter(|unit| due.has_come(unit));
            due.filter_map(|unit| unit.record.as_ref()).map(|record| record.kind.name()).collect()
        };
        let all = [Tier::Continuous, Tier::Milestone, Tier::Session];
        assert_eq!(given(&all, None, 1), ["decision"]);
        assert_eq!(given(&all, Some(-1), 1), ["decision"], "it was before");
        assert_eq!(given(&all, Some(1), 1), ["decision", "pattern", "observation"]);
        assert_eq!(given(&all[1..], Some(1), 40 * 24 * 3600), ["pattern"], "what was seen has ended");
        assert!(given(&all[2..], Some(1), 1).is_empty());
    }
}
