//! SM203: an item of a list of steps names no step.

use crate::artifact::Problem;
use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM203",
    name: "step-unreadable",
    group: Group::Steps,
    severity: Severity::Warning,
    summary: "An item of a list of steps names no step.",
    why: "A list inside the list, or a map without `step`, `id` or `name`, is progress that no reader \
              understands.",
    bad: "---\nstepsCompleted: [[step-01-init]]\n---\n",
    good: "---\nstepsCompleted: [step-01-init]\n---\n",
    fix: "Write a step id or number.",
    decision: Decision::diagnosed(
        |problem| matches!(problem, Problem::StepUnreadable { .. }),
        "write a step id or number",
    ),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn lists_and_nameless_maps_name_no_step() {
        assert_eq!(
            found(&RULE, "---\nstepsCompleted: [[1], {status: done}, {step: 2}]\n---\n"),
            [
                "2:18 SM203 this item of `stepsCompleted` names no step",
                "2:23 SM203 this item of `stepsCompleted` names no step"
            ]
        );
    }
}
