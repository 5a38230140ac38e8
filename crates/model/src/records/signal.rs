//! Signs of life of agents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

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
