//! Proposals of agents.

use super::plain_name;
use crate::{artifact::FileHash, records::read_time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::{collections::BTreeMap, fmt};

/// A change of a slice that an agent proposes. It is no state: it waits until the custodian commits or
/// refuses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    pub proposal_id: String,
    pub slice_id: String,
    pub agent: String,
    /// The digest of the slice as the agent read it ([`Record::base`](super::Record::base)).
    pub base: FileHash,
    /// The time (RFC 3339).
    pub created_at: String,
    /// Values of keys; `status` is the phase that comes next.
    #[serde(default)]
    pub set: Map<String, Json>,
    #[serde(default)]
    pub artifacts: Vec<ProposedFile>,
    #[serde(default)]
    pub confidence: Option<Confidence>,
    #[serde(default)]
    pub trace: Option<String>,
    #[serde(default)]
    pub verdict: Verdict,
    #[serde(default)]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedFile {
    /// The key under `phase_data`.
    pub phase: String,
    pub path: String,
    /// The SHA-256 of its bytes.
    pub file_hash: FileHash,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    pub score: f64,
    #[serde(default)]
    pub uncertainty_factors: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    #[default]
    Pending,
    Committed,
    Rejected,
    /// The slice had changed since the agent read it.
    Outdated,
    /// The confidence was too low: the slice is blocked.
    Failed,
}

impl Verdict {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Committed => "committed",
            Self::Rejected => "rejected",
            Self::Outdated => "outdated",
            Self::Failed => "failed",
        }
    }
}

impl Proposal {
    pub fn to(&self) -> Option<&str> {
        self.set.get("status").and_then(Json::as_str)
    }

    /// The keys that it changes, and their values: those of files are `phase_data.KEY`.
    pub(super) fn touched(&self) -> Vec<(String, Json)> {
        let files = self.artifacts.iter().map(|file| {
            (format!("phase_data.{}", file.phase), format!("{} {}", file.path, file.file_hash).into())
        });
        let set = self.set.iter().map(|(key, value)| (key.clone(), value.clone()));
        set.chain(files).collect()
    }

    pub(super) fn give_up(&mut self, key: &str) {
        match key.strip_prefix("phase_data.") {
            Some(phase) => self.artifacts.retain(|file| file.phase != phase),
            None => drop(self.set.shift_remove(key)),
        }
    }
}

/// A rule that says which of several proposals counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteeringRule {
    /// The keys for which it holds; all where there are none.
    pub keys: Vec<String>,
    pub prefer: Prefer,
}

/// The one of several proposals that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prefer {
    HigherConfidence,
    First,
    Agent(String),
}

/// A key of which proposals say something else, and no rule says which counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The key; that of a file is `phase_data.KEY`.
    pub key: String,
    pub sides: Vec<(String, Json)>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides: Vec<String> = self.sides.iter().map(|(agent, said)| format!("{agent}: {said}")).collect();
        write!(out, "`{}` ({})", self.key, sides.join(", "))
    }
}

/// `proposals` without what other ones overrule: what they say of the same key is the same.
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
