//! Signs of life of agents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::read_time;

/// A sign of life of an agent. It is no state: only projections show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Signal {
    /// The agent.
    pub agent: String,
    /// The time (RFC 3339).
    pub at: String,
    /// A word of the agent for what it is.
    pub status: Option<String>,
    /// The work that it is at.
    pub current: Option<String>,
    /// Its numbers.
    pub numbers: BTreeMap<String, i64>,
    /// Whatever else another program says of it.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub more: Map<String, Json>,
}

/// The last sign of life of each agent.
pub type Signals = BTreeMap<String, Signal>;

/// Takes those of `told` that are newer than what `signals` have of the same agent, and returns them. One
/// whose time cannot be read is older than any other.
pub fn take_newer(signals: &mut Signals, told: Signals) -> Vec<Signal> {
    let mut newer = Vec::new();
    for (agent, signal) in told {
        let is_newer = |own: &Signal| read_time(&own.at) < read_time(&signal.at);
        if signals.get(&agent).is_none_or(is_newer) {
            newer.push(signal.clone());
            signals.insert(agent, signal);
        }
    }
    newer
}
