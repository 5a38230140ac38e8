//! The demands of a project on its agents.

use std::collections::BTreeMap;

use super::{SteeringRule, plain_name};

/// The least confidence of each agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thresholds(pub BTreeMap<String, f64>);

/// The thresholds that count where a project says nothing.
const USUAL: [(&str, f64); 11] = [
    ("discovery", 0.85),
    ("spec", 0.85),
    ("validation", 0.90),
    ("domain", 0.85),
    ("design", 0.80),
    ("task-planning", 0.80),
    ("implementation", 0.75),
    ("qa", 0.85),
    ("refactor", 0.80),
    ("knowledge", 0.80),
    ("security", 0.95),
];

/// The threshold of an agent that nobody names.
const OF_OTHERS: f64 = 0.80;

impl Thresholds {
    /// The threshold of `agent`.
    pub fn of(&self, agent: &str) -> f64 {
        let agent = plain_name(agent);
        let own = self.0.iter().find(|(name, _)| plain_name(name) == agent).map(|(_, least)| *least);
        let usual = || USUAL.iter().find(|(name, _)| *name == agent).map(|(_, least)| *least);
        own.or_else(usual).unwrap_or(OF_OTHERS)
    }
}

/// The demands of a project on its agents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// The least confidence of each agent.
    pub thresholds: Thresholds,
    /// The least product of the confidences of a slice; `None` for none.
    pub ccs_floor: Option<f64>,
    /// The rules by which proposals that contradict each other are brought together.
    pub steering: Vec<SteeringRule>,
}

impl Thresholds {
    /// Those in the rows of a Markdown table: an agent, then a number from 0 to 1 in one of the other cells.
    pub fn of_table(text: &str) -> Self {
        let row = |line: &str| {
            let cells: Vec<&str> = line.trim().strip_prefix('|')?.split('|').map(str::trim).collect();
            let share = |cell: &&str| cell.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
            Some((plain_name(cells.first()?), cells.iter().skip(1).find_map(share)?))
        };
        Self(text.lines().filter_map(row).collect())
    }
}
