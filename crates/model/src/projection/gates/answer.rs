//! The answers that gates give.

use std::fmt;

use super::{Gate, StoredGate, gate_file_name};
use crate::{
    artifact::{Artifact, FileHash},
    transition::lists_step,
    workflow::{StepId, WorkflowDefinition},
};

/// The decision of a gate by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateDecision {
    /// Go on.
    Open,
    /// Go on, if the artifact's bytes have this hash: its stat is too young to prove it.
    OpenIf(FileHash),
    /// Stop.
    Closed(Closed),
}

/// A reason why a gate is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closed {
    /// The step has no gate.
    NoGate {
        /// The steps that have one.
        gates: Vec<String>,
    },
    /// Several gates fit.
    Ambiguous {
        /// Their steps.
        gates: Vec<String>,
    },
    /// The gate's file holds no gate of this version.
    Damaged {
        /// Its name.
        file_name: String,
    },
    /// The artifact was changed, or put back by git, after the gate was written.
    ArtifactChanged,
    /// There is no such artifact.
    NoArtifact,
    /// The artifact's frontmatter does not say one thing to every reader.
    Unreadable {
        /// The reason.
        reason: String,
    },
    /// The artifact does not list the step.
    NotListed,
}

/// The gates that fit a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateMatch<'g> {
    /// One.
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
///
/// # Errors
/// Why not.
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
