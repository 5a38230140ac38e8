//! One gate.

use serde::{Deserialize, Serialize};

use super::{Closed, GateDecision, gate_file_name};
use crate::{
    artifact::{FileHash, ProjectPath, StateDigest},
    journal::{ArtifactKey, EventId},
};

/// The shape of a gate's JSON, and its version.
const SCHEMA: &str = "stepmark.gate/1";

/// The content of a gate's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    schema: String,
    /// The step, as the workflow names it; as it is listed where no workflow knows it.
    pub step: String,
    /// The step as the artifact lists it.
    pub listed: String,
    /// The event that completed it, as far as it is known.
    pub event: Option<EventId>,
    /// The artifact's identity.
    pub artifact: ArtifactKey,
    /// The path of the artifact.
    pub path: ProjectPath,
    /// The artifact's stat when the step was seen in it.
    pub stat: GateStat,
    /// The hash of its bytes then.
    pub file: FileHash,
    /// The digest of its state then.
    pub state: StateDigest,
}

/// The stat of the artifact in the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateStat {
    /// Size in bytes.
    pub size: u64,
    /// Last change of the bytes, in nanoseconds since 1970.
    pub modified: i64,
    /// Last change of the bytes or of a property, in nanoseconds since 1970; 0 where the system has no such
    /// time.
    pub changed: i64,
    /// The file's number; 0 where the system has none.
    pub inode: u64,
    /// True if an equal stat alone means equal bytes. Not so for a file that was written a moment before: a
    /// second change may bear the same time.
    pub is_proof: bool,
}

/// A file in the folder of an artifact's gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredGate {
    /// Its name.
    pub file_name: String,
    /// Its content; `None` where that is no gate of this version, or the gate of another step.
    pub gate: Option<Gate>,
}

impl StoredGate {
    /// The file `file_name`, in which `gate` was read. The gate of a step counts under the name of that step
    /// alone: a copy under another name opens nothing.
    pub fn new(file_name: String, gate: Option<Gate>) -> Self {
        let gate = gate.filter(|gate| gate_file_name(&gate.step) == file_name);
        Self { file_name, gate }
    }
}

impl Gate {
    /// The gate that `bytes` hold; `None` where they hold none of this version.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(bytes).ok().filter(|gate| gate.schema == SCHEMA)
    }

    /// The gate of a step.
    pub fn new(step: &super::GateStep, event: Option<EventId>, facts: &super::GateFacts<'_>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            step: step.name.clone(),
            listed: step.listed.clone(),
            event,
            artifact: facts.key.clone(),
            path: facts.path.clone(),
            stat: facts.stat,
            file: facts.file,
            state: facts.state,
        }
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        // JSON of a value in memory cannot fail; an empty file is no gate.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Decides for an artifact that has the stat `now` (`None`: there is no such file).
    pub fn judge(&self, now: Option<GateStat>) -> GateDecision {
        match now {
            None => GateDecision::Closed(Closed::NoArtifact),
            Some(now) if !self.stat.is_same_file(&now) => GateDecision::Closed(Closed::ArtifactChanged),
            Some(_) if self.stat.is_proof => GateDecision::Open,
            Some(_) => GateDecision::OpenIf(self.file),
        }
    }
}

impl GateStat {
    /// Returns whether both tell of the same state of a file, as far as stats tell.
    pub const fn is_same_file(&self, other: &Self) -> bool {
        self.size == other.size
            && self.modified == other.modified
            && self.changed == other.changed
            && self.inode == other.inode
    }
}
