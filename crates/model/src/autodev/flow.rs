//! Flows: the steps of autodev in their order.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Condition, Position, PositionError, StepPlace};
use crate::workflow::WorkflowDefinition;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name: `greenfield`.
    pub flow: String,
    /// The conditions on the project's files of which one says that this is the flow; none in a flow that is
    /// taken where no other is.
    #[serde(default)]
    pub when: Vec<Condition>,
    /// Its steps. Their numbers are 1, 2, 3 and so on.
    pub steps: Vec<FlowStep>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowStep {
    /// Its number.
    pub step: u16,
    /// Its name: `UI Design`.
    pub name: String,
    /// The skill that does it.
    pub skill: Option<String>,
    /// True if it may be skipped.
    #[serde(default)]
    pub optional: bool,
    /// True if the next step begins in a new session.
    #[serde(default)]
    pub ends_session: bool,
    /// The step that follows the last one, where the flow goes round again: each round is a cycle.
    pub returns_to: Option<u16>,
    /// The conditions on the project's files of which one says that the step is still to be done; none where
    /// only the state file tells.
    #[serde(default)]
    pub due: Vec<Condition>,
    /// The block that the flow file of the skill shows at its end, in the place of the usual one.
    #[serde(skip)]
    pub choose_block: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Flows(Vec<Flow>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    #[error("the flow `{flow}` has no steps")]
    NoSteps { flow: String },
    #[error(
        "step {found} of the flow `{flow}` stands in place {place}: steps are numbered 1, 2, 3 and so on"
    )]
    Misnumbered {
        flow: String,
        /// The place in the list, from 1.
        place: usize,
        found: u16,
    },
    #[error("the flow `{flow}` returns to step {to}, which it does not have")]
    ReturnsNowhere { flow: String, to: u16 },
}

static BUILT_IN: LazyLock<Vec<Flow>> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
    serde_yaml::from_str(include_str!("flows.yaml")).expect("the flows that are built in are YAML")
});

impl Default for Flows {
    fn default() -> Self {
        Self(BUILT_IN.clone())
    }
}

impl Flows {
    /// The built-in flows, with `own` in the place of those that are called the same and behind them.
    pub fn with(own: Vec<Flow>) -> Result<Self, FlowError> {
        let mut flows = Self::default();
        for flow in own {
            flow.check()?;
            match flows.0.iter_mut().find(|known| known.flow == flow.flow) {
                Some(known) => *known = flow.with_conditions_of(known),
                None => flows.0.push(flow),
            }
        }
        Ok(flows)
    }

    pub fn named(&self, name: &str) -> Option<&Flow> {
        self.0.iter().find(|flow| flow.flow == name)
    }

    pub fn find(&self, name: &str) -> Result<&Flow, PositionError> {
        self.named(name).ok_or_else(|| PositionError::UnknownFlow {
            flow: name.to_owned(),
            known: self.0.iter().map(|flow| flow.flow.clone()).collect(),
        })
    }

    /// The flows, in the order in which they are looked for.
    pub fn iter(&self) -> impl Iterator<Item = &Flow> {
        self.0.iter()
    }
}

impl Flow {
    pub fn step(&self, number: u16) -> Option<&FlowStep> {
        self.steps.get(usize::from(number).checked_sub(1)?)
    }

    /// The step of a position; `None` where the flow has ended, or has none such.
    pub fn step_at(&self, position: &Position) -> Option<&FlowStep> {
        match position.step {
            StepPlace::Number(number) => self.step(number),
            StepPlace::Fraction(_) | StepPlace::Done => None,
        }
    }

    /// The step that follows `number`; `None` where that is the last one of a flow that does not go round.
    pub fn after(&self, number: u16) -> Option<&FlowStep> {
        let next = self.step(number)?.returns_to.unwrap_or(number.checked_add(1)?);
        self.step(next)
    }

    /// Its steps as a workflow, so that progress, gates, tickets and pages treat it like any other.
    pub fn to_workflow(&self) -> WorkflowDefinition {
        WorkflowDefinition::declared(format!("autodev-{}", self.flow), &self.step_ids())
    }

    /// The names of its steps as a workflow has them: `step-04-ui-design`.
    pub fn step_ids(&self) -> Vec<String> {
        let id = |step: &FlowStep| format!("step-{:02}-{}", step.step, kebab(&step.name));
        self.steps.iter().map(id).collect()
    }

    fn check(&self) -> Result<(), FlowError> {
        let flow = || self.flow.clone();
        if self.steps.is_empty() {
            return Err(FlowError::NoSteps { flow: flow() });
        }
        for (place, step) in (1..).zip(&self.steps) {
            if usize::from(step.step) != place {
                return Err(FlowError::Misnumbered { flow: flow(), place, found: step.step });
            }
            if let Some(to) = step.returns_to.filter(|to| self.step(*to).is_none()) {
                return Err(FlowError::ReturnsNowhere { flow: flow(), to });
            }
        }
        Ok(())
    }

    /// The same flow, where a flow file says nothing of conditions and of going round with what `known` says
    /// of steps of the same number and name.
    fn with_conditions_of(mut self, known: &Self) -> Self {
        if self.when.is_empty() {
            self.when.clone_from(&known.when);
        }
        for step in &mut self.steps {
            let same = known.step(step.step).filter(|same| same.name.eq_ignore_ascii_case(&step.name));
            let Some(same) = same else { continue };
            step.returns_to =
                step.returns_to.or(same.returns_to.filter(|to| usize::from(*to) <= known.steps.len()));
            if step.due.is_empty() {
                step.due.clone_from(&same.due);
            }
        }
        self
    }
}

pub(super) fn kebab(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flows_that_are_built_in_can_be_followed() {
        let flows = Flows::with(BUILT_IN.clone()).unwrap();
        let lengths: Vec<_> = flows.iter().map(|flow| (flow.flow.as_str(), flow.steps.len())).collect();
        assert_eq!(lengths, [("meta-repo", 6), ("greenfield", 11), ("existing-code", 17)]);
        let existing = flows.named("existing-code").unwrap();
        assert_eq!(existing.after(17).map(|step| step.name.as_str()), Some("New Task"));
        assert!(flows.named("greenfield").unwrap().after(11).is_none());
        assert_eq!(existing.step_ids()[11], "step-12-test-spec-sync");
    }

    #[test]
    fn a_flow_that_cannot_be_followed_is_refused() {
        let flow =
            |text: &str| Flows::with(vec![serde_yaml::from_str(text).unwrap()]).unwrap_err().to_string();
        assert_eq!(flow("{flow: x, steps: []}"), "the flow `x` has no steps");
        let misnumbered = flow("{flow: x, steps: [{step: 2, name: A}]}");
        assert_eq!(
            misnumbered,
            "step 2 of the flow `x` stands in place 1: steps are numbered 1, 2, 3 and so on"
        );
        let nowhere = flow("{flow: x, steps: [{step: 1, name: A, returns_to: 4}]}");
        assert_eq!(nowhere, "the flow `x` returns to step 4, which it does not have");
    }

    #[test]
    fn a_flow_of_the_project_keeps_what_it_says_nothing_of() {
        let own = "{flow: greenfield, steps: [{step: 1, name: problem, skill: p}, {step: 2, name: Other}]}";
        let flows = Flows::with(vec![serde_yaml::from_str(own).unwrap()]).unwrap();
        let flow = flows.named("greenfield").unwrap();
        assert_eq!((flow.steps[0].due.len(), flow.steps[1].due.len()), (4, 0));
        assert_eq!(flow.steps[0].skill.as_deref(), Some("p"));
    }
}
