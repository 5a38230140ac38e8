//! Proposals that contradict each other, and the rules that bring them together.

use std::{collections::BTreeMap, fmt};

use serde_json::Value as Json;

use super::{Proposal, plain_name};
use crate::records::read_time;

/// A rule that says which of several proposals counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteeringRule {
    /// The keys for which it holds; all where there are none.
    pub keys: Vec<String>,
    /// The proposal that counts.
    pub prefer: Prefer,
}

/// The one of several proposals that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prefer {
    /// That of the highest confidence.
    HigherConfidence,
    /// The first.
    First,
    /// That of this agent.
    Agent(String),
}

/// A key of which proposals say something else, and no rule says which counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The key; that of a file is `phase_data.KEY`.
    pub key: String,
    /// The agents, each with its value.
    pub sides: Vec<(String, Json)>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides: Vec<String> = self.sides.iter().map(|(agent, said)| format!("{agent}: {said}")).collect();
        write!(out, "`{}` ({})", self.key, sides.join(", "))
    }
}

/// `proposals` without what other ones overrule: what they say of the same key is the same.
///
/// # Errors
/// When they say something else of a key, and no rule decides.
pub fn reconcile(proposals: &[Proposal], rules: &[SteeringRule]) -> Result<Vec<Proposal>, Vec<Conflict>> {
    let mut said: BTreeMap<String, Vec<(usize, Json)>> = BTreeMap::new();
    for (place, proposal) in proposals.iter().enumerate() {
        for (key, value) in proposal.touched() {
            said.entry(key).or_default().push((place, value));
        }
    }
    let (mut united, mut conflicts) = (proposals.to_vec(), Vec::new());
    for (key, sides) in said {
        if sides.iter().all(|(_, value)| *value == sides[0].1) {
            continue;
        }
        let places: Vec<usize> = sides.iter().map(|(place, _)| *place).collect();
        match preferred(&key, &places, proposals, rules) {
            Some(winner) => {
                for place in places.into_iter().filter(|place| *place != winner) {
                    united[place].give_up(&key);
                }
            }
            None => {
                let side = |(place, value): (usize, Json)| (proposals[place].agent.clone(), value);
                conflicts.push(Conflict { key, sides: sides.into_iter().map(side).collect() });
            }
        }
    }
    if conflicts.is_empty() { Ok(united) } else { Err(conflicts) }
}

/// The one of the proposals at `places` that counts for `key`.
fn preferred(key: &str, places: &[usize], proposals: &[Proposal], rules: &[SteeringRule]) -> Option<usize> {
    let holds = |rule: &&SteeringRule| {
        rule.keys.is_empty()
            || rule.keys.iter().any(|own| own == key || Some(own.as_str()) == key.strip_prefix("phase_data."))
    };
    let score = |place: usize| proposals[place].confidence.as_ref().map_or(0.0, |own| own.score);
    rules.iter().filter(holds).find_map(|rule| match &rule.prefer {
        Prefer::First => places.iter().copied().min_by_key(|place| read_time(&proposals[*place].created_at)),
        Prefer::Agent(agent) => {
            let is_own = |place: &usize| plain_name(&proposals[*place].agent) == plain_name(agent);
            places.iter().copied().find(is_own)
        }
        Prefer::HigherConfidence => {
            let best = places.iter().copied().max_by(|one, other| score(*one).total_cmp(&score(*other)))?;
            // Two that are as sure decide nothing.
            let equals = places.iter().filter(|place| score(**place).total_cmp(&score(best)).is_eq()).count();
            (equals == 1).then_some(best)
        }
    })
}
