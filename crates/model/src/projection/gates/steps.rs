//! The steps of an artifact that have gates, and the names of these.

use std::collections::HashSet;

use crate::{
    artifact::{Artifact, FileHash},
    workflow::{StepId, StepMatch, WorkflowDefinition},
};

/// The number of steps that have gates. Each gate holds the stat of the file, so that every change writes all
/// of them anew: the artifact that lists more has none, and `gate check --verify` answers for it.
const MOST_GATES: usize = 4096;

/// A completed step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateStep {
    /// As the workflow names it; as it is listed where no workflow knows it, or several of its steps fit.
    pub name: String,
    /// As the artifact lists it.
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

/// The extension of gates.
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
