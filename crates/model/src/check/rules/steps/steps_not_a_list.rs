//! SM201: the value of `stepsCompleted` is no list.

use crate::artifact::Problem;
use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM201",
    name: "steps-not-a-list",
    group: Group::Steps,
    severity: Severity::Error,
    summary: "The value of `stepsCompleted` is no list.",
    why: "No reader finds a completed step in it, so the workflow starts over.",
    bad: "---\nstepsCompleted: step-01-init\n---\n",
    good: "---\nstepsCompleted: [step-01-init]\n---\n",
    fix: "Write it as `[step, step]` or as lines with dashes.",
    decision: Decision::diagnosed(
        |problem| matches!(problem, Problem::StepsNotAList { .. }),
        "write it as `[step, step]` or as lines with dashes",
    ),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_text_or_map_is_no_list() {
        let message = "2:17 SM201 `stepsCompleted` is no list of steps";
        assert_eq!(found(&RULE, "---\nstepsCompleted: step-01-init\n---\n"), [message]);
        assert_eq!(found(&RULE, "---\nstepsCompleted: {a: 1}\n---\n"), [message]);
        for list in ["[]", "", "null", "[1]", "\n- 1"] {
            assert!(found(&RULE, &format!("---\nstepsCompleted: {list}\n---\n")).is_empty(), "{list}");
        }
    }
}
