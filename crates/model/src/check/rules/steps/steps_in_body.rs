//! SM206: a heading of the body holds the list of steps.

use crate::artifact::Problem;
use crate::check::{Group, Rule, Severity, rule::Decision};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM206",
    name: "steps-in-body",
    group: Group::Steps,
    severity: Severity::Error,
    summary: "A heading of the body holds the list of steps.",
    why: "No reader of frontmatter sees state that stands in the body.",
    bad: "---\nstatus: draft\n---\n\n## stepsCompleted: [1, 2]\n",
    good: "---\nstatus: draft\nstepsCompleted: [1, 2]\n---\n",
    fix: "Move it into the frontmatter as a key.",
    decision: Decision::diagnosed(
        |problem| matches!(problem, Problem::StepsInBody),
        "move it into the frontmatter as a key",
    ),
};

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_heading_that_should_be_a_key() {
        assert_eq!(
            found(&RULE, "# PRD\n## stepsCompleted: [1]\n"),
            ["2:1 SM206 this heading holds state that no reader of frontmatter sees"]
        );
        assert!(found(&RULE, "# PRD\n## About stepsCompleted\nstepsCompleted: [1]\n").is_empty());
    }
}
