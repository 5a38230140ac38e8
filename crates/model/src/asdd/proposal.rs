//! Proposals of agents.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::artifact::FileHash;

/// A change of a slice that an agent proposes. It is no state: it waits until the custodian commits or
/// refuses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// Its id.
    pub proposal_id: String,
    /// The slice.
    pub slice_id: String,
    /// The agent.
    pub agent: String,
    /// The digest of the slice as the agent read it ([`Record::base`](super::Record::base)).
    pub base: FileHash,
    /// The time (RFC 3339).
    pub created_at: String,
    /// Values of keys; `status` is the phase that comes next.
    #[serde(default)]
    pub set: Map<String, Json>,
    /// The files that the agent made.
    #[serde(default)]
    pub artifacts: Vec<ProposedFile>,
    /// The confidence of the agent.
    #[serde(default)]
    pub confidence: Option<Confidence>,
    /// The file with the agent's reasons.
    #[serde(default)]
    pub trace: Option<String>,
    /// The outcome.
    #[serde(default)]
    pub verdict: Verdict,
    /// The reason of the verdict.
    #[serde(default)]
    pub reason: Option<String>,
}

/// A file that an agent made for a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedFile {
    /// The key under `phase_data`.
    pub phase: String,
    /// The path, seen from the project root.
    pub path: String,
    /// The SHA-256 of its bytes.
    pub file_hash: FileHash,
}

/// The confidence of an agent in its work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// From 0 to 1.
    pub score: f64,
    /// The doubts that it names.
    #[serde(default)]
    pub uncertainty_factors: Vec<String>,
}

/// The outcome of a proposal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It waits.
    #[default]
    Pending,
    /// The slice says it.
    Committed,
    /// It was refused.
    Rejected,
    /// The slice had changed since the agent read it.
    Outdated,
    /// The confidence was too low: the slice is blocked.
    Failed,
}

impl Verdict {
    /// Its word.
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
    /// The phase that comes next.
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

    /// Takes back what it says under `key`.
    pub(super) fn give_up(&mut self, key: &str) {
        match key.strip_prefix("phase_data.") {
            Some(phase) => self.artifacts.retain(|file| file.phase != phase),
            None => drop(self.set.shift_remove(key)),
        }
    }
}
