//! SM210: a listed step may be any of several.

use super::names;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::workflow::UnknownReason;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM210",
    name: "step-ambiguous",
    group: Group::Steps,
    severity: Severity::Warning,
    summary: "A listed step may be any of several.",
    why: "It cannot be told how far the workflow is.",
    bad: "---\nworkflowType: choice\nstepsCompleted: [step-02-outline]\n---\n",
    good: "---\nworkflowType: choice\nstepsCompleted: [step-02-draft]\n---\n",
    fix: "Write the full name of the step.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for unknown in subject.progress().into_iter().flat_map(|progress| &progress.unknown) {
        if let UnknownReason::Ambiguous(steps) = &unknown.reason {
            let (span, spelling) = subject.item(unknown.item);
            let message = format!("`{spelling}` may be any of {}", names(steps));
            found.push(subject.finding(&RULE, span, message).with_help("write the full name of the step"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn a_name_that_none_of_two_steps_has() {
        assert_eq!(
            found(&RULE, "---\nworkflowType: choice\nstepsCompleted: [step-02-outline]\n---\n"),
            ["3:18 SM210 `step-02-outline` may be any of `step-02-draft`, `step-02-review`"]
        );
        assert!(found(&RULE, "---\nworkflowType: choice\nstepsCompleted: [step-02-draft]\n---\n").is_empty());
    }
}
