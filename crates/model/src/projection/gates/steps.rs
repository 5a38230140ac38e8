//! The steps of an artifact that have gates.

use std::collections::HashSet;

use crate::{
    artifact::Artifact,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ProjectPath;

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
}
