//! Gates: a file per completed step, `.stepmark/gates/ARTIFACT/STEP.gate`, for scripts that can only `test
//! -f`. An export, enabled by `gates: true`; [`verify`] reads the artifact, never a gate.

use crate::artifact::{Artifact, ProjectPath};
use crate::check::rules::gates::{GATE_WITHOUT_STEP, STEP_WITHOUT_GATE};
use crate::check::{Finding, Rule};
use crate::transition::lists_step;
use crate::workflow::{StepId, StepMatch, WorkflowDefinition};
use std::collections::{HashMap, HashSet};
use std::fmt;
use stepmark_frontmatter::Span;

pub const GATES_FOLDER: &str = ".stepmark/gates";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closed {
    NoArtifact,
    /// Readers disagree on the frontmatter.
    Unreadable {
        reason: String,
    },
    NotListed,
}

impl Closed {
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::NoArtifact => "no-artifact",
            Self::Unreadable { .. } => "unreadable",
            Self::NotListed => "not-listed",
        }
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoArtifact => out.write_str("there is no such artifact"),
            Self::Unreadable { reason } => write!(out, "the frontmatter cannot be read: {reason}"),
            Self::NotListed => out.write_str("the artifact does not list the step as completed"),
        }
    }
}

pub fn verify(
    artifact: &Artifact,
    workflow: Option<&WorkflowDefinition>,
    completed: &[StepId],
    asked: &StepId,
) -> Result<(), Closed> {
    artifact.state_value().map_err(|error| Closed::Unreadable { reason: error.to_string() })?;
    if lists_step(workflow, completed, asked) { Ok(()) } else { Err(Closed::NotListed) }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateStep {
    /// The workflow's name for it; if unknown or ambiguous, as listed.
    pub name: String,
    pub listed: String,
}

impl GateStep {
    pub fn file_name(&self) -> String {
        gate_file_name(&self.name)
    }

    pub fn file(&self, path: &ProjectPath) -> Vec<u8> {
        let gate = serde_json::json!({"schema": "stepmark.gate/2", "path": path.as_str(), "step": self.name});
        format!("{gate}\n").into_bytes()
    }
}

/// Without duplicates and resume markers; empty if readers disagree on the frontmatter.
pub fn gate_steps(
    artifact: &Artifact,
    workflow: Option<&WorkflowDefinition>,
    completed: &[StepId],
) -> Vec<GateStep> {
    // All readers agree on an empty list.
    if completed.is_empty() || artifact.state_value().is_err() {
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

pub fn superfluous(steps: &[GateStep], stored: &[String]) -> Vec<String> {
    let names: HashSet<String> = steps.iter().map(GateStep::file_name).collect();
    stored.iter().filter(|stored| !names.contains(*stored)).cloned().collect()
}

pub const GATE_EXTENSION: &str = ".gate";

/// Longer names are cut; file systems take 255 bytes.
const LONGEST: usize = 150;

/// `step-03-success.gate`. Unique per step, also without case: all bytes but `a`–`z`, `0`–`9`, `-`, `_` and
/// inner `.` become `%` and two hexadecimal digits; a cut name ends with its hash.
fn gate_file_name(step: &str) -> String {
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
        let hash = crate::artifact::FileHash::of(step.as_bytes()).to_string();
        name.truncate(LONGEST - 40);
        // Only cut names have `%~`.
        name.push_str("%~");
        name.extend(hash.chars().take(32));
    }
    name.push_str(GATE_EXTENSION);
    name
}

/// Without any gate none is missing: `stepmark project` was not run since checkout.
pub fn gate_findings(artifact: &Artifact, steps: &[GateStep], stored: &[String]) -> Vec<Finding> {
    let list = artifact.steps().map_or(Span::at(0), |steps| steps.span);
    let finding = |rule: &'static Rule, span, message: String, help: &str| {
        Finding::new(rule, artifact.path(), span, message).with_help(help)
    };
    let stale = superfluous(steps, stored).into_iter().map(|name| {
        let message = format!("`{name}` is the gate of a step that is not listed here");
        finding(&GATE_WITHOUT_STEP, list, message, "`stepmark project` removes it")
    });
    let has_gate = |step: &&GateStep| stored.contains(&step.file_name());
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gates_are_missed_where_there_are_some() {
        let path = ProjectPath::new("docs/prd.md").unwrap();
        let artifact = Artifact::read(path, b"---\nstepsCompleted: [a, b]\n---\n".to_vec());
        let steps = gate_steps(&artifact, None, &["a", "b", "a"].map(StepId::parse));
        let found = |stored: &[&str]| -> Vec<&str> {
            let stored: Vec<String> = stored.iter().map(|step| gate_file_name(step)).collect();
            gate_findings(&artifact, &steps, &stored).iter().map(|finding| finding.rule.id).collect()
        };
        assert_eq!(found(&[]), [""; 0], "nobody has made gates of it");
        assert_eq!(found(&["c"]), ["SM601", "SM602", "SM602"]);
        assert_eq!(found(&["b", "a"]), [""; 0]);
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
