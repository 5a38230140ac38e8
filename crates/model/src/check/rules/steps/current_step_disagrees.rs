//! SM216: `currentStep` and `current_step` say different things.

use crate::artifact::Problem;
use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM216",
    name: "current-step-disagrees",
    group: Group::Steps,
    severity: Severity::Warning,
    summary: "`currentStep` and `current_step` say different things.",
    why: "Two spellings of one key: each tool reads its own.",
    bad: "---\ncurrentStep: 2\ncurrent_step: 3\n---\n",
    good: "---\ncurrentStep: 3\n---\n",
    fix: "Keep one of the two keys.",
    decision: Decision::diagnosed(
        |problem| matches!(problem, Problem::CurrentStepDisagrees { .. }),
        "keep one of the two keys",
    ),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn two_spellings_of_one_key() {
        assert_eq!(
            found(&RULE, "---\ncurrentStep: 2\ncurrent_step: 3\n---\n"),
            ["3:15 SM216 `currentStep` says something else"]
        );
        assert!(found(&RULE, "---\ncurrentStep: 3\ncurrent_step: 3\n---\n").is_empty());
    }
}
