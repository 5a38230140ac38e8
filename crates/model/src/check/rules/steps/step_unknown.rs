//! SM209: a listed step is none of its workflow.

use crate::check::{Finding, Group, Rule, Severity, Subject, rule::Decision};
use crate::workflow::UnknownReason;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "SM209",
    name: "step-unknown",
    group: Group::Steps,
    severity: Severity::Warning,
    summary: "A listed step is none of its workflow.",
    why: "It does not count as progress. A step that was renamed by an update of the workflow, or one \
              of another workflow, is the usual cause.",
    bad: "---\nworkflowType: prd\nstepsCompleted: [step-01-init, step-42-other]\n---\n",
    good: "---\nworkflowType: prd\nstepsCompleted: [step-01-init, step-02-discovery]\n---\n",
    fix: "`stepmark show` lists the steps of the workflow. Free words such as `edit-2026-02-24` are \
              notes and never found.",
    decision: Decision::OfArtifact(check),
};

fn check(subject: &Subject<'_>, found: &mut Vec<Finding>) {
    for unknown in subject.progress().into_iter().flat_map(|progress| &progress.unknown) {
        if unknown.reason == UnknownReason::NoSuchStep {
            let (span, spelling) = subject.item(unknown.item);
            let message = format!("the workflow has no step `{spelling}`");
            found.push(subject.finding(&RULE, span, message).with_help("`stepmark show` lists its steps"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::check::rules::sample::found;

    #[test]
    fn what_looks_like_a_step_should_be_one() {
        let file = "---\nworkflowType: prd\nstepsCompleted: [1, step-42-other, edit-2026-02-24]\n---\n";
        assert_eq!(found(&RULE, file), ["3:21 SM209 the workflow has no step `step-42-other`"]);
        assert!(
            found(&RULE, "---\nstepsCompleted: [step-42-other]\n---\n").is_empty(),
            "no workflow is known"
        );
    }
}
