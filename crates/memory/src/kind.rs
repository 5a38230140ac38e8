//! The kinds of records.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use stepmark_store::configuration::MemoryTier;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// A settled question, with the reason and what was rejected.
    Decision,
    Error,
    Security,
    Preference,
    Learning,
    Observation,
    Pattern,
    Documentation,
    Summary,
}

/// The types of `kuzu-memory` 1.12: how long a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryType {
    /// 30 days.
    Episodic,
    /// A day.
    Working,
    /// 6 hours.
    Sensory,
    Semantic,
    Procedural,
    Preference,
}

/// The time at which other stores get a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    Continuous,
    Milestone,
    Session,
}

impl From<MemoryTier> for Tier {
    fn from(tier: MemoryTier) -> Self {
        match tier {
            MemoryTier::Continuous => Self::Continuous,
            MemoryTier::Milestones => Self::Milestone,
            MemoryTier::Sessions => Self::Session,
        }
    }
}

struct Facts {
    kind: MemoryKind,
    name: &'static str,
    memory_type: MemoryType,
    tier: Tier,
    /// Default, from 0 to 1.
    importance: f64,
}

const fn facts(
    kind: MemoryKind,
    name: &'static str,
    memory_type: MemoryType,
    tier: Tier,
    importance: f64,
) -> Facts {
    Facts { kind, name, memory_type, tier, importance }
}

const KINDS: [Facts; 9] = [
    facts(MemoryKind::Decision, "decision", MemoryType::Semantic, Tier::Continuous, 0.9),
    facts(MemoryKind::Error, "error", MemoryType::Procedural, Tier::Continuous, 0.7),
    facts(MemoryKind::Security, "security", MemoryType::Semantic, Tier::Continuous, 0.9),
    facts(MemoryKind::Preference, "preference", MemoryType::Preference, Tier::Continuous, 0.8),
    facts(MemoryKind::Learning, "learning", MemoryType::Semantic, Tier::Continuous, 0.7),
    facts(MemoryKind::Observation, "observation", MemoryType::Episodic, Tier::Milestone, 0.4),
    facts(MemoryKind::Pattern, "pattern", MemoryType::Procedural, Tier::Milestone, 0.6),
    facts(MemoryKind::Documentation, "documentation", MemoryType::Semantic, Tier::Milestone, 0.5),
    facts(MemoryKind::Summary, "summary", MemoryType::Episodic, Tier::Session, 0.3),
];

impl MemoryKind {
    pub fn all() -> impl Iterator<Item = Self> {
        KINDS.iter().map(|facts| facts.kind)
    }

    fn facts(self) -> &'static Facts {
        &KINDS[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.facts().name
    }

    pub fn memory_type(self) -> MemoryType {
        self.facts().memory_type
    }

    pub fn tier(self) -> Tier {
        self.facts().tier
    }

    pub fn importance(self) -> f64 {
        self.facts().importance
    }
}

impl FromStr for MemoryKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = KINDS.iter().find(|facts| facts.name == text).map(|facts| facts.kind);
        named.ok_or_else(|| {
            let names: Vec<&str> = KINDS.iter().map(|facts| facts.name).collect();
            format!("a kind is one of {}", names.join(", "))
        })
    }
}

impl MemoryType {
    /// `None` if it holds for good.
    pub const fn seconds(self) -> Option<i64> {
        match self {
            Self::Episodic => Some(30 * 24 * 60 * 60),
            Self::Working => Some(24 * 60 * 60),
            Self::Sensory => Some(6 * 60 * 60),
            Self::Semantic | Self::Procedural | Self::Preference => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_stands_at_its_place() {
        for (place, facts) in KINDS.iter().enumerate() {
            assert_eq!(facts.kind as usize, place);
            assert_eq!(facts.name.parse::<MemoryKind>(), Ok(facts.kind));
        }
        assert!("x".parse::<MemoryKind>().is_err());
    }
}
