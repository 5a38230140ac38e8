//! SM202: a list of steps has an empty item.

use super::without_item;
use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::{artifact::Problem, check::Safety};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM202",
    name: "step-empty",
    group: Group::Steps,
    severity: Severity::Warning,
    summary: "A list of steps has an empty item.",
    why: "Readers take it for a step without a name, and count it.",
    bad: "---\nstepsCompleted: [step-01-init, null]\n---\n",
    good: "---\nstepsCompleted: [step-01-init]\n---\n",
    fix: "Remove the item.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    let findings = subject.diagnosed(&RULE, |problem| matches!(problem, Problem::StepEmpty { .. }));
    found.extend(findings.enumerate().map(|(nth, finding)| {
        let fix = without_item(subject, nth, finding.span, Safety::Safe, "remove the empty item");
        finding.with_help("remove it").with_fix(fix)
    }));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::{fixed, found};

    #[test]
    fn empty_items_go() {
        let file = "---\nstepsCompleted:\n- step-01-init\n-\n- step-02-discovery\n---\n";
        assert_eq!(found(&RULE, file), ["4:2 SM202 `stepsCompleted` has an empty item"]);
        assert_eq!(
            fixed(&RULE, file).as_deref(),
            Some("---\nstepsCompleted:\n- step-01-init\n- step-02-discovery\n---\n")
        );
        assert!(found(&RULE, "---\nstepsCompleted: []\n---\n").is_empty());
    }
}
