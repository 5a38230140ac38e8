//! One gate.

use super::{Closed, GateDecision};
use crate::artifact::{Artifact, FileHash, ProjectPath, StateDigest};
use crate::journal::{ArtifactKey, EventId};
use crate::workflow::{StepId, StepMatch, WorkflowDefinition};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

const SCHEMA: &str = "stepmark.gate/1";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    schema: String,
    /// The step, as the workflow names it; as it is listed where no workflow knows it.
    pub step: String,
    pub listed: String,
    /// The event that completed it, as far as it is known.
    pub event: Option<EventId>,
    pub artifact: ArtifactKey,
    pub path: ProjectPath,
    /// The artifact's stat when the step was seen in it.
    pub stat: GateStat,
    /// The hash of its bytes then.
    pub file: FileHash,
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

/// The number of steps that have gates. Each gate holds the stat of the file, so that every change writes all
/// of them anew: the artifact that lists more has none, and `gate check --verify` answers for it.
const MOST_GATES: usize = 4096;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateStep {
    /// As the workflow names it; as it is listed where no workflow knows it, or several of its steps fit.
    pub name: String,
    pub listed: String,
}

/// The steps that `artifact` lists as completed (`completed`), each once; none where readers would disagree
/// on what its frontmatter says. Markers of a resumed session are no steps.
pub fn gate_steps(
    artifact: &Artifact,
    workflow: Option<&WorkflowDefinition>,
    completed: &[StepId],
) -> Vec<GateStep> {
    // An empty list says the same to every reader.
    if completed.is_empty() || artifact.state_value().is_err() {
        return Vec::new();
    }
    listed_steps(workflow, completed)
}

/// The same of frontmatter that says one thing to every reader.
pub fn listed_steps(workflow: Option<&WorkflowDefinition>, completed: &[StepId]) -> Vec<GateStep> {
    if completed.len() > MOST_GATES {
        return Vec::new();
    }
    let mut steps: Vec<GateStep> = Vec::new();
    let mut names = HashSet::new();
    for id in completed.iter().filter(|id| !id.is_resume() && !id.spelling().trim().is_empty()) {
        let name = match workflow.map(|workflow| workflow.chain.find(id)) {
            Some(StepMatch::Step { step, .. }) => step.name(),
            _ => id.spelling().trim(),
        };
        if names.insert(name) {
            steps.push(GateStep { name: name.to_owned(), listed: id.spelling().to_owned() });
        }
    }
    steps
}

pub const GATE_EXTENSION: &str = ".gate";

/// Longer names are cut; every file system takes 255 bytes.
const LONGEST: usize = 150;

/// The file name of the gate of `step`: `step-03-success.gate`. Two different steps never share one, on file
/// systems that do not tell upper case from lower case either: every byte but `a`–`z`, `0`–`9`, `-`, `_` and
/// inner `.` is written as `%` and two hexadecimal digits; a name that is too long ends with its hash.
pub(crate) fn gate_file_name(step: &str) -> String {
    let mut name = String::with_capacity(step.len() + GATE_EXTENSION.len());
    for (place, byte) in step.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            b'.' if place > 0 => name.push('.'),
            _ => {
                let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
                name.extend(['%', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
    if name.len() > LONGEST {
        let hash = FileHash::of(step.as_bytes()).to_string();
        name.truncate(LONGEST - 40);
        // `%~` stands in no name that was not cut.
        name.push_str("%~");
        name.extend(hash.chars().take(32));
    }
    name.push_str(GATE_EXTENSION);
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ProjectPath;
    use proptest::prelude::*;

    #[test]
    fn each_step_is_there_once_and_a_list_beyond_the_limit_has_no_gates() {
        let artifact = Artifact::read(ProjectPath::new("a.md").unwrap(), b"---\nstatus: a\n---\n".to_vec());
        let spelled = (0..MOST_GATES - 1).map(|at| format!("step-{at}-x")).chain(["step-7-x".to_owned()]);
        let mut completed: Vec<StepId> = spelled.map(|name| StepId::parse(&name)).collect();
        let steps = gate_steps(&artifact, None, &completed);
        assert_eq!(steps.len(), MOST_GATES - 1);
        assert_eq!(steps[7], GateStep { name: "step-7-x".to_owned(), listed: "step-7-x".to_owned() });
        completed.push(StepId::parse("one-more"));
        assert_eq!(gate_steps(&artifact, None, &completed), []);
    }

    #[test]
    fn plain_names_stay_and_others_are_safe() {
        for (step, expected) in [
            ("step-03-success", "step-03-success.gate"),
            ("3", "3.gate"),
            ("1.10", "1.10.gate"),
            ("Step 1: Title", "%53tep%201%3a%20%54itle.gate"),
            ("../../etc/passwd", "%2e.%2f..%2fetc%2fpasswd.gate"),
            ("", ".gate"),
            ("é", "%c3%a9.gate"),
            ("a%2f", "a%252f.gate"),
        ] {
            assert_eq!(gate_file_name(step), expected);
        }
        let long = gate_file_name(&"x".repeat(1000));
        assert!(long.len() < 160 && long != gate_file_name(&"x".repeat(1001)));
    }

    proptest! {
        #[test]
        fn no_two_steps_share_a_name(one in ".{0,300}", other in ".{0,300}") {
            let names = [gate_file_name(&one), gate_file_name(&other)];
            prop_assert!(names.iter().all(|name| name.len() < 200 && !name.contains(['/', '\\', '\0'])));
            prop_assert_eq!(names[0].eq_ignore_ascii_case(&names[1]), one == other);
        }
    }
}
