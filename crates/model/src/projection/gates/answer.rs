//! The answers that gates give.

use super::{Gate, GateStep, StoredGate, gate_file_name, superfluous};
use crate::artifact::{Artifact, FileHash};
use crate::check::rules::gates::{GATE_WITHOUT_STEP, STEP_WITHOUT_GATE};
use crate::check::{Finding, Rule};
use crate::transition::lists_step;
use crate::workflow::{StepId, WorkflowDefinition};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Duration;
use stepmark_frontmatter::Span;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateDecision {
    Open,
    /// Go on, if the artifact's bytes have this hash: its stat is too young to prove it.
    OpenIf(FileHash),
    Closed(Closed),
}

/// A reason why a gate is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closed {
    /// The step has no gate.
    NoGate {
        gates: Vec<String>,
    },
    Ambiguous {
        gates: Vec<String>,
    },
    /// The gate's file holds no gate of this version.
    Damaged {
        file_name: String,
    },
    /// The artifact was changed, or put back by git, after the gate was written.
    ArtifactChanged,
    NoArtifact,
    /// The artifact's frontmatter does not say one thing to every reader.
    Unreadable {
        reason: String,
    },
    /// The artifact does not list the step.
    NotListed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateMatch<'g> {
    Gate(&'g Gate),
    /// None that answers.
    Closed(Closed),
}

/// The gate among `stored` that `asked` means: that of its name, or the only one of the same number where
/// `asked` has no words behind its number.
pub fn find<'g>(stored: &'g [StoredGate], asked: &StepId) -> GateMatch<'g> {
    let name = gate_file_name(asked.spelling().trim());
    if let Some(exact) = stored.iter().find(|stored| stored.file_name == name) {
        let damaged = || GateMatch::Closed(Closed::Damaged { file_name: name.clone() });
        return exact.gate.as_ref().map_or_else(damaged, GateMatch::Gate);
    }
    let gates: Vec<&Gate> = stored.iter().filter_map(|stored| stored.gate.as_ref()).collect();
    let steps = |gates: &[&Gate]| gates.iter().map(|gate| gate.step.clone()).collect();
    let fitting: Vec<&Gate> = gates.iter().copied().filter(|gate| fits(gate, asked)).collect();
    match fitting.as_slice() {
        [gate] => GateMatch::Gate(gate),
        [] => GateMatch::Closed(Closed::NoGate { gates: steps(&gates) }),
        several => GateMatch::Closed(Closed::Ambiguous { gates: steps(several) }),
    }
}

fn fits(gate: &Gate, asked: &StepId) -> bool {
    let is_step = asked.number().is_some() || asked.slug().is_some();
    [&gate.step, &gate.listed].into_iter().any(|spelling| {
        let known = StepId::parse(spelling);
        let is_same_number = asked.number().is_some()
            && asked.slug().is_none()
            && asked.number() == known.number()
            && asked.track() == known.track();
        is_step && asked.form() == known.form()
            || is_same_number
            || known.spelling().trim() == asked.spelling().trim()
    })
}

/// Returns whether `artifact`, which lists the steps `completed`, says that the step `asked` is done: tier 2.
pub fn verify(
    artifact: &Artifact,
    workflow: Option<&WorkflowDefinition>,
    completed: &[StepId],
    asked: &StepId,
) -> Result<(), Closed> {
    artifact.state_value().map_err(|error| Closed::Unreadable { reason: error.to_string() })?;
    if lists_step(workflow, completed, asked) { Ok(()) } else { Err(Closed::NotListed) }
}

impl Closed {
    /// One word for programs.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::NoGate { .. } => "no-gate",
            Self::Ambiguous { .. } => "ambiguous",
            Self::Damaged { .. } => "damaged",
            Self::ArtifactChanged => "artifact-changed",
            Self::NoArtifact => "no-artifact",
            Self::Unreadable { .. } => "unreadable",
            Self::NotListed => "not-listed",
        }
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGate { gates } if gates.is_empty() => out.write_str("the artifact has no gates"),
            Self::NoGate { gates } => write!(out, "the step has no gate; there are {}", gates.join(", ")),
            Self::Ambiguous { gates } => write!(out, "the step may be any of {}", gates.join(", ")),
            Self::Damaged { file_name } => write!(out, "`{file_name}` holds no gate that can be read"),
            Self::ArtifactChanged => out.write_str(
                "the artifact was changed after the gate was written: `--verify` looks into it, `stepmark project` \
                 rebuilds the gates",
            ),
            Self::NoArtifact => out.write_str("there is no such artifact"),
            Self::Unreadable { reason } => write!(out, "the frontmatter cannot be read: {reason}"),
            Self::NotListed => out.write_str("the artifact does not list the step as completed"),
        }
    }
}

/// Finds the gates of `artifact`, which has completed `steps`, that are not those of its steps. One without
/// any gate lacks none: nobody has asked for them since it was checked out.
pub fn gate_findings(artifact: &Artifact, steps: &[GateStep], stored: &[StoredGate]) -> Vec<Finding> {
    let list = artifact.steps().map_or(Span::at(0), |steps| steps.span);
    let finding = |rule: &'static Rule, span, message: String, help: &str| {
        Finding::new(rule, artifact.path(), span, message).with_help(help)
    };
    let stale =
        superfluous(steps, stored.iter().map(|stored| stored.file_name.as_str())).into_iter().map(|name| {
            let message = format!("`{name}` is the gate of a step that is not listed here");
            finding(&GATE_WITHOUT_STEP, list, message, "`stepmark project` removes it")
        });
    let readable = stored.iter().filter(|stored| stored.gate.is_some());
    let readable: HashSet<&str> = readable.map(|stored| stored.file_name.as_str()).collect();
    let has_gate = |step: &&GateStep| readable.contains(gate_file_name(&step.name).as_str());
    let items = artifact.state().steps.iter().flat_map(|steps| &steps.items).rev();
    let spans: HashMap<&str, Span> = items.map(|item| (item.spelling.as_str(), item.span)).collect();
    let expected = if stored.is_empty() { &[] } else { steps };
    let missing = expected.iter().filter(|step| !has_gate(step)).map(|step| {
        let message = format!("`{}` is completed and has no gate", step.name);
        let span = spans.get(step.listed.as_str()).copied().unwrap_or(list);
        finding(&STEP_WITHOUT_GATE, span, message, "`stepmark project` makes it")
    });
    stale.chain(missing).collect()
}

/// The facts that decide whether the gates of an artifact are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateUse {
    /// The artifact's workflow or status says that it is finished.
    pub is_finished: bool,
    /// The time since the file was last changed.
    pub age: Duration,
    /// A live lease, a running session or an open child belongs to it.
    pub is_in_use: bool,
}

impl GateUse {
    /// Returns whether the gates are kept: somebody uses the artifact, or it is unfinished and was changed
    /// within `window`.
    pub fn keeps_gates(self, window: Duration) -> bool {
        self.is_in_use || !self.is_finished && self.age <= window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ProjectPath;

    #[test]
    fn gates_are_missed_where_there_are_some() {
        let path = ProjectPath::new("docs/prd.md").unwrap();
        let artifact = Artifact::read(path, b"---\nstepsCompleted: [a, b]\n---\n".to_vec());
        let steps = ["a", "b"].map(|name| GateStep { name: name.to_owned(), listed: name.to_owned() });
        let stored = |name: &str| StoredGate { file_name: gate_file_name(name), gate: None };
        let found = |stored: &[StoredGate]| -> Vec<&str> {
            gate_findings(&artifact, &steps, stored).iter().map(|finding| finding.rule.id).collect()
        };
        assert_eq!(found(&[]), [""; 0], "nobody has asked for gates of it");
        assert_eq!(found(&[stored("c")]), ["SM601", "SM602", "SM602"], "a gate that cannot be read is none");
    }

    #[test]
    fn gates_are_kept_where_somebody_works() {
        let window = Duration::from_secs(100);
        for (is_finished, seconds, is_in_use, expected) in [
            (false, 0, false, true),
            (false, 100, false, true),
            (false, 101, false, false),
            (true, 0, false, false),
            (true, 101, true, true),
            (false, 101, true, true),
        ] {
            let facts = GateUse { is_finished, age: Duration::from_secs(seconds), is_in_use };
            assert_eq!(facts.keeps_gates(window), expected, "{facts:?}");
        }
    }
}
