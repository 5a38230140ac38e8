//! SM205: a list of steps mixes numbers and names.

use crate::artifact::Problem;
use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM205",
    name: "step-kinds-mixed",
    group: Group::Steps,
    severity: Severity::Note,
    summary: "A list of steps mixes numbers and names.",
    why: "stepmark reads both; other tools compare items as they are spelled, and find no \
              `step-02-discovery` where a `2` stands.",
    bad: "---\nstepsCompleted: [1, step-02-discovery]\n---\n",
    good: "---\nstepsCompleted: [step-01-init, step-02-discovery]\n---\n",
    fix: "Use one kind.",
    decision: Decision::diagnosed(
        |problem| matches!(problem, Problem::StepKindsMixed { .. }),
        "other tools compare items as they are spelled, so use one kind",
    ),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn the_first_number_among_names_is_named() {
        assert_eq!(
            found(&RULE, "---\nstepsCompleted: [step-01-init, 2, 3]\n---\n"),
            ["2:32 SM205 `stepsCompleted` mixes numbers and names"]
        );
        assert!(found(&RULE, "---\nstepsCompleted: [1, 2]\n---\n").is_empty());
        assert!(found(&RULE, "---\nstepsCompleted: ['1', step-02-x]\n---\n").is_empty(), "both are text");
    }
}
